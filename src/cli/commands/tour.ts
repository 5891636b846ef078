// The guided tour: jpg's main job on the bundled sample session, every command really run, in a temporary folder.

import { openTourStage, SAMPLE_SESSION, type TourStage } from "../../app/manage/tour-stage.ts";
import { repositoryError } from "../../core/errors.ts";
import { forTerminal, linesForTerminal, safe, shellWord } from "../../core/safe-text.ts";
import { askYesNo, dropTyped, isTerminal } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag, INTERRUPTED } from "../frame/command.ts";
import { untilStopped } from "../frame/interrupt.ts";
import type { Output } from "../frame/output.ts";

/** Result of a search in turn 18 of the sample. */
const SEARCH = "0a8cc1ee-fdf6-4f6b-a10a-f4c7dfddc539";

export const command: CommandSpec = {
  name: "tour",
  summary: "watch jpg work on a sample session",
  description:
    "Imports a bundled session of Claude Code, shortens, reviews and undoes, forks and exports it: shows each command and what it prints. Everything happens in a temporary folder, with a HOME of its own, so nothing of yours is read or changed. At the end it offers to stay there, in a shell; else it removes the folder.",
  options: [{ flags: "--keep", description: "leave the folder, and print where it is" }],
  examples: [{ command: "jpg tour", explains: "takes a minute" }],
  run: (context) => untilStopped((signal) => play(context, signal)),
};

/** The stage, with what the tour prints. */
interface ShownStage extends TourStage {
  /** Shows a command as it is typed, runs it, and prints what it prints, or the first lines of that. */
  show(command: readonly string[], limit?: { readonly lines: number }): Promise<void>;
  tell(text: string): void;
}

interface Chapter {
  readonly heading: string;
  readonly text: string;
  readonly play: (stage: ShownStage) => Promise<void>;
}

async function play(context: CommandContext, signal: AbortSignal): Promise<number> {
  const { output, runtime, options } = context;
  const keep = flag(options, "keep");
  const stage = await openTourStage(runtime, { isColoured: output.style.enabled, columns: columnsOf(output) });
  try {
    const end = keep ? "." : ", which is removed at the end.";
    tell(output, `Everything happens in ${stage.folder}${end}`, "A tour of jpg");
    for (const chapter of CHAPTERS) {
      tell(output, chapter.text, chapter.heading);
      await chapter.play(shownOn(stage, output));
      if (signal.aborted) return INTERRUPTED;
    }
    tell(output, nextSteps(stage, keep), "What next");
    if (!keep) await offerToStay(stage, context);
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    if (!keep) await stage.remove();
  }
  return 0;
}

function shownOn(stage: TourStage, output: Output): ShownStage {
  return {
    ...stage,
    tell: (text) => tell(output, text),
    async show(command, { lines = Number.POSITIVE_INFINITY } = { lines: Number.POSITIVE_INFINITY }) {
      const [program, ...words] = command;
      const inStore = program === "store-git";
      const typed = (inStore ? words : command).map((word) => shellWord(word)).join(" ");
      output.data(output.style.heading(forTerminal(`$ ${inStore ? `git -C "$(jpg path)" ` : ""}${typed}`)));
      const path = inStore ? (await stage.run(["jpg", "path"])).stdout.trim() : "";
      const { stdout, stderr } = await stage.run(inStore ? ["git", "-C", path, ...words] : command);
      const said = `${stdout}${stderr}`.trimEnd();
      output.raw(said === "" ? "\n" : `${shorten(said, lines)}\n\n`);
    },
  };
}

function shorten(text: string, most: number): string {
  const all = text.split("\n");
  if (all.length <= most) return text;
  return [...all.slice(0, most), `… (${all.length - most} more lines)`].join("\n");
}

/** Prints a few words on what comes and why, below a heading. */
function tell({ data, style }: Pick<Output, "data" | "style">, text: string, heading?: string): void {
  if (heading !== undefined) data(style.heading(forTerminal(heading)));
  for (const line of linesForTerminal(text)) data(safe`${line}\n`);
  data(safe`\n`);
}

function nextSteps({ project, folder }: TourStage, keep: boolean): string {
  return [
    "In a project in which you use an agent:",
    "  jpg import     what agents keep for this project",
    "  jpg compact    shorten what the model sees; `jpg undo` undoes it",
    "  jpg resume     continue from there in the agent",
    keep
      ? `Look around: \`cd ${shellWord(project)}\`, then \`jpg ls\`. Remove ${folder} when you are done.`
      : "`jpg tour --keep` leaves the folder, to look around in the result.",
  ].join("\n");
}

/** Columns that are filled where there is no terminal. */
const COLUMNS = 80;

function columnsOf({ width }: Pick<Output, "width">): number {
  return Number.isFinite(width) ? width : COLUMNS;
}

/** Offers a shell in the project; its end is the end of the folder. */
async function offerToStay({ project, stay }: TourStage, { output }: CommandContext): Promise<void> {
  if (!isTerminal(process.stdin, output)) return;
  await dropTyped(process.stdin);
  const text = "Stay here in a shell, and look around? The folder is removed when you leave it.";
  if (!(await askYesNo({ text, otherwise: "no", instead: "--keep" }, { output }))) return;
  output.info(safe`Try \`jpg ls\`, \`jpg serve --open\`. \`exit\` ends it and removes ${forTerminal(project)}.`);
  await stay();
}

const CHAPTERS: readonly Chapter[] = [
  {
    heading: "1. Bring a session in",
    text: `sample-session.jsonl is a session of Claude Code: two days, 26 turns, and one\ncompaction by the agent itself. It becomes a branch in a git repository inside\n.git/jpg, one commit a turn. The project's own files and branches are not\ntouched.`,
    play: async (stage) => {
      await stage.show(["git", "init", "--quiet"]);
      await stage.show(["jpg", "import", SAMPLE_SESSION]);
      await stage.show(["jpg", "ls"]);
    },
  },
  {
    heading: "2. What has been compacted so far",
    text: "`jpg log` is the history of compactions. This one is the agent's own: it\nreplaced turns 0 to 15 by a summary.",
    play: (stage) => stage.show(["jpg", "log"]),
  },
  {
    heading: "3. Shorten what the model sees",
    text: "First only look: the default profile strips reasoning and tool calls and leaves\nthe last 3 turns alone.",
    play: async (stage) => {
      await stage.show(["jpg", "compact", "--dry-run"]);
      await stage.show(["jpg", "compact"]);
      await stage.show(["jpg", "log"]);
    },
  },
  {
    heading: "4. Review it",
    text: "A compaction changes how turns are read, never the turns. `jpg diff` shows what\nthe model saw before and sees after.",
    play: async (stage) => {
      await stage.show(["jpg", "diff", "--stat"]);
      await stage.show(["jpg", "diff"], { lines: 28 });
      await stage.show(["store-git", "log", "-1", "--stat", "--format=%h %an: %s"]);
    },
  },
  {
    heading: "5. Undo it with stock git",
    text: "A compaction is a commit that adds one file. Git's own revert undoes it, at any\ntime and in any order.",
    play: async (stage) => {
      await stage.show(["store-git", "revert", "--no-edit", "HEAD"], { lines: 1 });
      await stage.show(["jpg", "log"]);
    },
  },
  {
    heading: "6. Bring it back",
    text: "Reverting that revert brings the compaction back. jpg's own `revert` also says\nwhat that does to the view.",
    play: async (stage) => {
      await stage.show(["jpg", "revert", await newestCommit(stage)]);
    },
  },
  {
    heading: "7. Fork",
    text: "A fork is a new branch. Here we undo two compactions on it, ours and the\nagent's own, so that it shows all 26 turns in full again. The other branch\nstays as it is.",
    play: async (stage) => {
      await stage.show(["jpg", "fork", "@", "everything"]);
      await stage.show(["jpg", "undo"]);
      await stage.show(["jpg", "undo"]);
      await stage.show(["jpg", "ls", "--branches"]);
    },
  },
  {
    heading: "8. Strategies, pins and blame",
    text: "On that fork, which is active now: strategies choose what to take out, call by\ncall. What is pinned stays. `blame` says who decided, and what the model sees.",
    play: async (stage) => {
      await stage.show(["jpg", "pin", "19"]);
      await stage.show([
        "jpg",
        "compact",
        "-s",
        "strip-reasoning",
        "-s",
        "dedup-tools",
        "-s",
        "strip-tool-results",
        "--pointers",
      ]);
      await stage.show(["jpg", "blame", SEARCH]);
      await stage.show(["jpg", "show", SEARCH], { lines: 12 });
      await stage.show(["jpg", "check", "--provider", "all"]);
      stage.tell("Back to the branch that the fork was made from:");
      await stage.show(["jpg", "use", "-"]);
    },
  },
  {
    heading: "9. Check out",
    text: "A checked-out conversation is a git worktree with the view as text: VIEW.md for\npeople, view.jsonl for programs.",
    play: async (stage) => {
      await stage.show(["jpg", "checkout", "@", "../review"]);
      await stage.show(["head", "-n", "7", "../review/VIEW.md"]);
    },
  },
  {
    heading: "10. Continue in the agent, and import again",
    text: "The export is a session that `claude --resume FILE` accepts. In your own\nproject `jpg resume` writes it to where Claude Code looks and prints the\ncommand.",
    play: async (stage) => {
      await stage.show(["jpg", "export", "--to", "claude-code", "-o", "resumed.jsonl"]);
      await stage.continueSession("resumed.jsonl");
      stage.tell(
        "(Here you would continue in the agent. The tour appends one turn to the file,\nthe way Claude Code does.)",
      );
      await stage.show(["jpg", "import", "resumed.jsonl"]);
      stage.tell("The session was recognised: only the new turn was added to its conversation.");
    },
  },
  {
    heading: "11. Nothing was lost",
    text: "The file as it was imported, byte for byte, although the view is now much\nshorter:",
    play: async (stage) => {
      await stage.show(["jpg", "export", "--original", "-o", "original.jsonl"]);
      if (!(await stage.isSample("original.jsonl")))
        throw repositoryError("tour_stopped", "The tour stopped: original.jsonl differs from sample-session.jsonl.");
      stage.tell("original.jsonl and sample-session.jsonl are equal, byte for byte.");
    },
  },
];

/** What `jpg log` lists first, as it is typed. */
async function newestCommit(stage: TourStage): Promise<string> {
  const [newest] = JSON.parse((await stage.run(["jpg", "log", "--json"])).stdout) as readonly {
    readonly commit: string;
  }[];
  const commit = newest?.commit ?? "";
  // Digits alone would be a turn.
  return commit.slice(0, Math.max(7, commit.search(/[a-f]/) + 1));
}
