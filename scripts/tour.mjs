// The guided tour (`npm run tour`): jpg's main job on the bundled sample session, every command really run, in a
// temporary folder that is removed at the end (`--keep` leaves it). Ends with exit code 1 when a step goes wrong, or where there is
// no git.
import { appendFileSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfMissing, hasGit, openStage, run, show, tell } from "./tour-shell.mjs";

const SAMPLE = fileURLToPath(new URL("../examples/sample-session.jsonl", import.meta.url));
/** Result of a search in turn 18 of the sample. */
const SEARCH = "0a8cc1ee-fdf6-4f6b-a10a-f4c7dfddc539";
const keep = process.argv.includes("--keep");

const CHAPTERS = [
  {
    heading: "1. Bring a session in",
    text: `sample-session.jsonl is a session of Claude Code: two days, 26 turns, and one compaction by the agent itself.\nIt becomes a branch in a git repository inside .git/jpg, one commit a turn. The project's own files and branches are not touched.`,
    play: (stage) => {
      show(stage, ["git", "init", "--quiet"]);
      show(stage, ["jpg", "import", "sample-session.jsonl"]);
      show(stage, ["jpg", "ls"]);
    },
  },
  {
    heading: "2. What has been compacted so far",
    text: "`jpg log` is the history of compactions. This one is the agent's own: it replaced turns 0 to 15 by a summary.",
    play: (stage) => show(stage, ["jpg", "log"]),
  },
  {
    heading: "3. Shorten what the model sees",
    text: "First only look: the default profile strips reasoning and tool calls and leaves the last 3 turns alone.",
    play: (stage) => {
      show(stage, ["jpg", "compact", "--dry-run"]);
      show(stage, ["jpg", "compact"]);
      show(stage, ["jpg", "log"]);
    },
  },
  {
    heading: "4. Review it",
    text: "A compaction changes how turns are read, never the turns. `jpg diff` shows what the model saw before and sees after.",
    play: (stage) => {
      show(stage, ["jpg", "diff", "--stat"]);
      show(stage, ["jpg", "diff"], { lines: 28 });
      show(stage, ["store-git", "log", "-1", "--stat", "--format=%h %an: %s"]);
    },
  },
  {
    heading: "5. Undo it with stock git",
    text: "A compaction is a commit that adds one file. Git's own revert undoes it, at any time and in any order.",
    play: (stage) => {
      show(stage, ["store-git", "revert", "--no-edit", "HEAD"], { lines: 1 });
      show(stage, ["jpg", "log"]);
    },
  },
  {
    heading: "6. Bring it back",
    text: "Reverting that revert brings the compaction back. jpg's own `revert` also says what that does to the view.",
    play: (stage) => {
      show(stage, ["jpg", "revert", newestCommit(stage)]);
    },
  },
  {
    heading: "7. Fork",
    text: "A fork is a new branch. Here we undo two compactions on it, ours and the agent's own, so that it shows all 26 turns in full again.\nThe other branch stays as it is.",
    play: (stage) => {
      show(stage, ["jpg", "fork", "@", "everything"]);
      show(stage, ["jpg", "undo"]);
      show(stage, ["jpg", "undo"]);
      show(stage, ["jpg", "ls", "--all"]);
      show(stage, ["jpg", "use", "-"]);
    },
  },
  {
    heading: "8. Strategies, pins and blame",
    text: "On that fork: strategies choose what to take out, call by call. What is pinned stays. `blame` says who decided, and what the model sees.",
    play: (stage) => {
      show(stage, ["jpg", "use", "-"]);
      show(stage, ["jpg", "pin", "19"]);
      show(stage, [
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
      show(stage, ["jpg", "blame", SEARCH]);
      show(stage, ["jpg", "show", SEARCH], { lines: 12 });
      show(stage, ["jpg", "check", "--provider", "all"]);
      show(stage, ["jpg", "use", "-"]);
    },
  },
  {
    heading: "9. Check out",
    text: "A checked-out conversation is a git worktree with the view as text: VIEW.md for people, view.jsonl for programs.",
    play: (stage) => {
      show(stage, ["jpg", "checkout", "@", "../review"]);
      show(stage, ["head", "-n", "7", "../review/VIEW.md"]);
    },
  },
  {
    heading: "10. Continue in the agent, and import again",
    text: "The export is a session that `claude --resume FILE` accepts. In your own project `jpg resume --with claude-code`\nwrites it to where Claude Code looks and prints the command.",
    play: (stage) => {
      show(stage, ["jpg", "export", "--to", "claude-code", "-o", "resumed.jsonl"]);
      continueSession(join(stage.project, "resumed.jsonl"));
      tell(
        "",
        "(Here you would continue in the agent. The tour appends one turn to the file, the way Claude Code does.)",
      );
      show(stage, ["jpg", "import", "resumed.jsonl"]);
      tell("", "The session was recognised: only the new turn was added to its conversation.");
    },
  },
  {
    heading: "11. Nothing was lost",
    text: "The file as it was imported, byte for byte, although the view is now much shorter:",
    play: (stage) => {
      show(stage, ["jpg", "export", "--original", "-o", "original.jsonl"]);
      if (!readFileSync(join(stage.project, "original.jsonl")).equals(readFileSync(SAMPLE))) {
        throw new Error("original.jsonl differs from sample-session.jsonl.");
      }
      tell("", "original.jsonl and sample-session.jsonl are equal, byte for byte.");
    },
  },
];

/** What `jpg log` lists first, as it is typed. */
function newestCommit(stage) {
  const [newest] = JSON.parse(run(stage, ["jpg", "log", "--json"]).stdout);
  // Digits alone would be a turn.
  return newest.commit.slice(0, Math.max(7, newest.commit.search(/[a-f]/) + 1));
}

/** Appends a request and its answer to a session file, linked to its last message. */
function continueSession(file) {
  const lines = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const last = lines.findLast((line) => line.uuid !== undefined && line.type === "assistant");
  const { parentUuid, type, uuid, timestamp, message, ...base } = last;
  const request = {
    ...base,
    parentUuid: uuid,
    type: "user",
    uuid: "0c9e6f3a-5b1d-4c7e-8f20-6a4d9b3e7c11",
    timestamp: "2026-03-11T08:30:00.000Z",
    message: { role: "user", content: "Good morning. Fix the first of the two, please." },
  };
  const answer = {
    ...base,
    parentUuid: request.uuid,
    type: "assistant",
    uuid: "7d2b8a64-91c3-4e5f-a0d7-3f6c1e9b5a22",
    timestamp: "2026-03-11T08:30:09.000Z",
    message: {
      id: "msg_tour_0001",
      type: "message",
      role: "assistant",
      model: message.model,
      content: [{ type: "text", text: "Done: the dry run guesses the delimiter as the load does." }],
    },
  };
  appendFileSync(file, `${[request, answer].map((line) => JSON.stringify(line)).join("\n")}\n`);
}

function play() {
  buildIfMissing();
  const stage = openStage();
  try {
    tell("A tour of jpg", `Everything happens in ${stage.folder}${keep ? "" : ", which is removed at the end"}.`);
    copyFileSync(SAMPLE, join(stage.project, "sample-session.jsonl"));
    for (const { heading, text, play: playChapter } of CHAPTERS) {
      tell(heading, text);
      playChapter(stage);
    }
  } finally {
    if (!keep) stage.close();
  }
  tell("What next", nextSteps(stage.project));
}

function nextSteps(project) {
  const looking = keep
    ? `Look around: \`cd ${project}\`, then \`jpg ls\`. Remove ${project.replace(/\/tidepool$/, "")} when you are done.`
    : "Look around in the result yourself: `npm run tour -- --keep`.";
  return [
    "Put `jpg` on your PATH: `npm link`, here. Then, in a project in which you use Claude Code:",
    "  jpg import                       what Claude Code keeps for this project",
    "  jpg ls                           the list; `jpg use ID` makes one the active conversation",
    "  jpg compact --dry-run            what a compaction would save",
    "  jpg compact, jpg diff            make it, read it; `jpg undo` undoes it",
    "  jpg resume --with claude-code    prints the command that continues from there",
    looking,
  ].join("\n");
}

try {
  if (!hasGit())
    throw new Error("it needs git, and none was found in PATH. Install git: https://git-scm.com/downloads");
  play();
} catch (error) {
  process.stderr.write(`The tour stopped: ${error.message}\n`);
  process.exitCode = 1;
}
