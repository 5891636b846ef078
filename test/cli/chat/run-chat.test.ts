// A chat from the first prompt to the last, typed by a test: a scripted model answers, the store is a real one.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readDeltas } from "../../../src/app/conversation/marks.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadTurns } from "../../../src/app/conversation/view.ts";
import type { Tool, ToolBox } from "../../../src/app/models/tool-box.ts";
import { runChat } from "../../../src/cli/chat/run-chat.ts";
import type { ChatState } from "../../../src/cli/chat/slash-command.ts";
import { createOutput, type OutputStream } from "../../../src/cli/frame/output.ts";
import { recordedTools } from "../../../src/config/config.ts";
import { NO_OFFERS } from "../../../src/core/compact/automatic.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { forTerminal } from "../../../src/core/safe-text.ts";
import { startChatServer } from "../../helpers/chat-server.ts";
import { type FakeKeyboard, openFakeKeyboard } from "../../helpers/fake-keyboard.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import { calls, createScriptedModel, type Script, says, stop, thinks } from "../../helpers/scripted-model.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const ENTER = "\r";
const CTRL_C = "\u0003";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

/** A chat that runs. */
interface Typing {
  readonly keyboard: FakeKeyboard;
  readonly done: Promise<void>;
  /** Types and waits for the next prompt; gives what was written since, without escape sequences. */
  enter(line: string): Promise<string>;
  /** Types and waits until something is written. */
  press(keys: string, until: string | RegExp): Promise<string>;
  requests(): readonly string[];
}

interface Beginning {
  readonly scripts?: readonly Script[];
  readonly tools?: readonly Tool[];
  /** What was said of the servers when the chat began. */
  readonly problems?: readonly string[];
  readonly state?: Partial<ChatState>;
  readonly overrides?: readonly string[];
  readonly columns?: number;
}

/** A line that was drawn over. */
const ERASED = /[^\n]*\r\u001b\[2K/g;
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;
const PROMPT = /> \u001b\[3G$/;

async function beginChat(branch: string | null, beginning: Beginning = {}): Promise<Typing> {
  const { scripts = [], tools = [], problems = [], state, overrides = [], columns = 80 } = beginning;
  const keyboard = openFakeKeyboard({ columns });
  const stderr: OutputStream = {
    write: (chunk) => {
      keyboard.terminal.write(forTerminal(String(chunk)));
      return true;
    },
    on: () => undefined,
  };
  const output = createOutput({ stdout: stderr, stderr, env: {} });
  const model = createScriptedModel(scripts);
  const servers: ToolBox = { tools, problems, close: () => Promise.resolve() };
  const done = runChat(
    {
      workspace: { ...workspace, overrides },
      runtime: workspace.runtime,
      output,
      terminal: keyboard.terminal,
      look: { style: output.style, ascii: true, markdown: true },
      servers,
    },
    { branch, model, isNamed: false, offers: NO_OFFERS, draft: "", unanswered: null, settingsKept: false, ...state },
  );
  const wait = async (from: number, wanted: RegExp | string): Promise<string> => {
    const look = expect.poll(() => keyboard.screen().slice(from), { interval: 5 });
    await (typeof wanted === "string" ? look.toContain(wanted) : look.toMatch(wanted));
    return keyboard.screen().slice(from).replaceAll(ERASED, "").replaceAll(ESCAPES, "");
  };
  await wait(0, PROMPT);
  const press = async (keys: string, until: string | RegExp): Promise<string> => {
    const from = keyboard.screen().length;
    await keyboard.type(keys);
    return wait(from, until);
  };
  return {
    keyboard,
    done,
    press,
    enter: (line) => press(`${line}${ENTER}`, PROMPT),
    requests: () => model.requests.map(({ view }) => JSON.stringify(view.turns.map(({ events }) => events))),
  };
}

const importTurns = async (turns: number): Promise<string> =>
  (await importBytes(workspace, smallSession({ turns }))).branch;

const answers = (count: number): Script[] =>
  Array.from({ length: count }, (_, at) => [...says(`Reply ${at}.`), stop()]);

const untilAborted: Script[number] = ({ signal }) =>
  new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));

async function settingsOf(branch: string): Promise<readonly unknown[]> {
  const deltas = await readDeltas(
    workspace,
    await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch)),
  );
  // The tools that requests offer are recorded beside.
  return deltas.filter((stored) => recordedTools([stored]) === null);
}

async function lastTurn(branch: string): Promise<string> {
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const position = tree.turnOids.length - 1;
  return JSON.stringify((await loadTurns(workspace.store, tree, [position])).get(position)?.events);
}

const BOX = "Conversation History Compaction";

describe("a message in a chat", () => {
  it("is answered, and both are on the branch before the next prompt", async () => {
    const branch = await importTurns(2);
    const chat = await beginChat(branch, { scripts: [[...thinks("Hm."), ...says("It is ", "low tide."), stop()]] });
    const shown = await chat.enter("And now?");
    expect(shown).toContain("Hm.\nIt is low tide.\n\n[8 messages]");
    expect(await lastTurn(branch)).toMatch(/And now\?.*It is low tide\./);
  });

  it("comes below what was said last", async () => {
    const chat = await beginChat(await importTurns(2));
    expect(chat.keyboard.screen().replaceAll(ESCAPES, "")).toContain(
      "\n> Request 1 about the harbour wall\n\nAnswer 1: the water stood at 1 metres.\n\n[6 messages]",
    );
  });

  it("begins a conversation where there is none, and until then commands say so", async () => {
    const chat = await beginChat(null, { scripts: answers(1) });
    expect(await chat.enter("/log")).toContain("This conversation is still empty");
    await chat.enter("How high is the pier?");
    const [tip] = await workspace.store.listBranches();
    expect(tip?.name).toMatch(/^how-high-is-the-pier-\w{4}\/main$/);
    expect(await workspace.store.readActiveBranch()).toBe(tip?.name);
    expect(await chat.enter("/log")).toContain("No compactions yet");
  });

  it("goes on in the conversation that it began, also when the first answer broke off", async () => {
    const other = await importTurns(1);
    await workspace.store.useBranch(other);
    const broken: Script = [
      ...says("It is ", "low").slice(0, 2),
      new JpgError("provider", "stream_cut", "the line went dead"),
    ];
    const chat = await beginChat(null, { scripts: [broken, ...answers(1)] });
    expect(await chat.enter("How high is the pier?")).toContain("the line went dead");
    await chat.enter("And now?");
    const begun = (await workspace.store.listBranches()).map(({ name }) => name).filter((name) => name !== other);
    expect(begun).toEqual([expect.stringMatching(/^how-high-is-the-pier-\w{4}\/main$/)]);
    expect(await workspace.store.readActiveBranch()).toBe(begun[0]);
    expect(chat.requests()[1]).toMatch(/How high is the pier\?.*It is low.*And now\?/);
  });

  it("may begin with a slash: a path, or two of them", async () => {
    const branch = await importTurns(1);
    const chat = await beginChat(branch, { scripts: answers(2) });
    await chat.enter("/etc/hosts is empty");
    expect(await lastTurn(branch)).toContain("/etc/hosts is empty");
    await chat.enter("//help me");
    expect(await lastTurn(branch)).toContain('"/help me"');
  });

  it("that cannot be answered leaves the conversation as it was, and the chat goes on", async () => {
    const branch = await importTurns(1);
    const tip = await tipOf(workspace, branch);
    const chat = await beginChat(branch, { scripts: [[new Error("the tide took it")], ...answers(1)] });
    expect(await chat.enter("Hello?")).toContain("the tide took it");
    expect(await tipOf(workspace, branch)).toBe(tip);
    expect(await chat.enter("Hello?")).toContain("Reply 0.");
  });

  it("is kept with what came when Ctrl-C interrupts the answer", async () => {
    const branch = await importTurns(1);
    const chat = await beginChat(branch, {
      scripts: [[...says("One, two, ").slice(0, 1), untilAborted], ...answers(1)],
    });
    await chat.press(`Count${ENTER}`, "One, two,");
    const shown = await chat.press(CTRL_C, "[5 messages]");
    expect(shown).toContain("^C\nInterrupted: what had arrived is kept as turn 1");
    expect(await lastTurn(branch)).toMatch(/Count.*One, two, .*interrupted/);
    expect(await chat.enter("Go on")).toContain("Reply 0.");
  });

  it("reaches the terminal without the control characters of a model", async () => {
    const branch = await importTurns(1);
    const chat = await beginChat(branch, { scripts: [[...says("\u001b]0;owned\u0007", "\u001b[2J"), stop()]] });
    await chat.enter("Hello?");
    expect(chat.keyboard.screen()).not.toMatch(/\u001b\]0|\u0007|\u001b\[2J/);
  });

  it("takes the settings of this call along once", async () => {
    const branch = await importTurns(1);
    const overrides = ["conversation.compaction.keep_last=7"];
    const chat = await beginChat(branch, { scripts: answers(2), overrides });
    await chat.enter("One");
    await chat.enter("Two");
    expect(await settingsOf(branch)).toHaveLength(1);
  });

  it("takes them along with the next one when the first answer is interrupted", async () => {
    const branch = await importTurns(1);
    const overrides = ["conversation.compaction.keep_last=7"];
    const scripts: Script[] = [[...says("One, two, ").slice(0, 1), untilAborted], ...answers(2)];
    const chat = await beginChat(branch, { scripts, overrides });
    await chat.press(`Count${ENTER}`, "One, two,");
    await chat.press(CTRL_C, "[5 messages]");
    await chat.enter("Go on");
    await chat.enter("And on");
    expect(await settingsOf(branch)).toHaveLength(1);
  });
});

describe("a tool that a model calls in a chat", () => {
  const tool: Tool = {
    definition: { name: "gauge", description: "Reads the gauge.", parameters: { type: "object" } },
    origin: "pier",
    confirm: true,
    call: () => Promise.resolve({ content: "3 metres", isError: false }),
  };
  const round = (id: string): Script => [calls("gauge", { at: "pier" }, id), stop("tool_calls")];

  it("is asked about, each time, until it is allowed for the rest of the chat", async () => {
    const branch = await importTurns(1);
    const scripts = [round("a"), round("b"), round("c"), round("d"), ...answers(1)];
    const chat = await beginChat(branch, { scripts, tools: [tool] });
    const QUESTION = "? \u001b[3G";
    const asked = await chat.press(`How high?${ENTER}`, QUESTION);
    expect(asked).toContain('→ gauge {"at":"pier"}');
    expect(asked).toContain("Run gauge of pier?");
    await chat.press(`perhaps${ENTER}`, QUESTION);
    expect(await chat.press(`no${ENTER}`, QUESTION)).toContain("✗ gauge");
    expect(await chat.press(`y${ENTER}`, QUESTION)).toContain("✓ gauge 3 metres");
    const rest = await chat.press(`a${ENTER}`, "[5 messages]");
    expect(rest.match(/✓ gauge 3 metres/g)).toHaveLength(2);
    expect(await lastTurn(branch)).toContain("Reply 0.");
  });

  it("is shown with all of its arguments, and not called for a reason that the model is told", async () => {
    const branch = await importTurns(1);
    const script = `first line\n${"long ".repeat(100)}\nlast line \u001b[2J`;
    const scripts = [[calls("gauge", { script, dry: false }, "a"), stop("tool_calls")], ...answers(1)];
    const chat = await beginChat(branch, { scripts, tools: [tool] });
    const asked = await chat.press(`How high?${ENTER}`, "? \u001b[3G");
    expect(asked).toContain(
      `script: \n    | first line\n    | ${"long ".repeat(100)}\n    | last line ␛[2J\n  dry: false`,
    );
    expect(await chat.press(`v${ENTER}`, "? \u001b[3G")).toContain("| first line");
    await chat.press(`no, use the tide table${ENTER}`, "[5 messages]");
    expect(await lastTurn(branch)).toContain("declined this call. Their reason: use the tide table");
  });

  it("is not called when Ctrl-C answers, which ends the turn", async () => {
    const branch = await importTurns(1);
    const chat = await beginChat(branch, { scripts: [round("a")], tools: [tool] });
    await chat.press(`How high?${ENTER}`, "? \u001b[3G");
    const shown = await chat.press(CTRL_C, "[4 messages]");
    expect(shown).toContain("Interrupted");
    expect(shown).not.toContain("3 metres");
  });

  it("comes from servers whose problems were said when the chat began, not before each message", async () => {
    const problems = ["MCP server buoy did not answer."];
    const chat = await beginChat(await importTurns(1), { scripts: answers(2), tools: [tool], problems });
    await chat.enter("One");
    await chat.enter("Two");
    expect(chat.keyboard.screen()).not.toContain("buoy");
  });
});

describe("the offer to compact", () => {
  it("comes after the user's message, again ten messages after a no, and never again when asked so", {
    tags: ["slow"],
  }, async () => {
    const branch = await importTurns(16); // 48 messages
    const chat = await beginChat(branch, { scripts: answers(20) });
    expect(await chat.enter("49th")).not.toContain(BOX);
    const offer = await chat.press(`51st${ENTER}`, "compact manually");
    expect(offer).toContain("Your conversation has 51 messages");
    expect(chat.requests()).toHaveLength(1);
    expect(await chat.press("n", "[52 messages]")).toContain("Reply 1.");
    for (const count of [53, 55, 57, 59]) expect(await chat.enter(`${count}th`)).not.toContain(BOX);
    expect(await chat.press(`61st${ENTER}`, "compact manually")).toContain("61 messages");
    await chat.press("V", "[62 messages]");
    for (let count = 63; count < 80; count += 2) expect(await chat.enter(`${count}th`)).not.toContain(BOX);
    expect(await chat.enter("/compact")).toContain("into summary");
  });

  it("compacts before the message is sent, and is quiet for twenty messages then", async () => {
    const branch = await importTurns(17); // 51 messages
    const chat = await beginChat(branch, { scripts: answers(1) });
    await chat.press(`52nd${ENTER}`, "compact manually");
    const shown = await chat.press("y", "> \u001b[3G");
    expect(shown).toMatch(
      /context compacted.*\nCompacted 36 messages into summary\n\/diff .*\nReply 0\.\n\n\[Summary \+ 17 messages\]/,
    );
    expect(chat.requests()[0]).toContain("[CONVERSATION HISTORY SUMMARY - 36 messages]");
    expect(chat.requests()[0]).toContain("52nd");
  });

  it("is cancelled by Ctrl-C: nothing is sent, and the message stands in the line again", async () => {
    const branch = await importTurns(17);
    const chat = await beginChat(branch, { scripts: answers(1) });
    await chat.press(`52nd${ENTER}`, "compact manually");
    expect(await chat.press(CTRL_C, "52nd")).toContain("Nothing was sent");
    expect(chat.requests()).toHaveLength(0);
    expect(await chat.press(`!${ENTER}`, "[53 messages]")).not.toContain(BOX);
    expect(chat.requests()[0]).toContain("52nd!");
  });

  it("keeps the settings of this call once: with the compaction, not with the answer again", async () => {
    const branch = await importTurns(17);
    const overrides = ["conversation.compaction.keep_last=7"];
    const chat = await beginChat(branch, { scripts: answers(1), overrides });
    await chat.press(`52nd${ENTER}`, "compact manually");
    expect(await chat.press("y", "[Summary + 17 messages]")).toContain("Reply 0.");
    expect(await settingsOf(branch)).toHaveLength(1);
  });
});

describe("the summary of /compact", () => {
  const SEVEN = ["TASK STATE", "FILES", "TOOL HISTORY", "ERRORS", "DECISIONS", "USER GUIDANCE", "NEXT STEPS"];

  /** What the summary model is sent for a chat whose tools bear that name. */
  async function asked(tool: string): Promise<string> {
    const server = await startChatServer((stream) => stream.fail(400, "not now"));
    try {
      const text = String(smallSession({ turns: 20 })).replaceAll('"name":"Bash"', `"name":"${tool}"`);
      const { branch } = await importBytes(workspace, Buffer.from(text.replaceAll('"command":', '"file_path":')));
      const folder = join(workspace.runtime.home, ".config", "jpg");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "config.toml"), server.config);
      await (await beginChat(branch)).enter("/compact --model test/model-1");
      return JSON.stringify(server.requests[0]?.messages);
    } finally {
      await server.close();
    }
  }

  it("is asked for in the seven sections where tools changed files or ran commands", async () => {
    const prompt = await asked("Edit");
    for (const section of SEVEN) expect(prompt).toContain(`## ${section}`);
    expect(prompt).not.toContain("## KEY POINTS");
  });

  it("is the gist where there was only talk and reading", async () => {
    const prompt = await asked("Read");
    expect(prompt).toContain("## KEY POINTS");
    for (const section of SEVEN) expect(prompt).not.toContain(`## ${section}`);
  });
});

describe("a compaction that fails", () => {
  it("is said, and the message is sent all the same", async () => {
    const branch = await importTurns(17);
    const folder = join(workspace.runtime.home, ".config", "jpg");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.toml"), '[conversation.compaction]\nmodel = "anthropic/claude-haiku"\n');
    const chat = await beginChat(branch, { scripts: answers(1) });
    await chat.press(`52nd${ENTER}`, "compact manually");
    const shown = await chat.press("y", "[53 messages]");
    expect(shown).toMatch(/error: .*ANTHROPIC_API_KEY.*\/compact --model NAME.*\/compact strip.*Reply 0\./s);
    expect(shown).not.toMatch(/hint: .*(jpg compact|--emit)/);
  });
});

describe("a slash command", () => {
  it("/compact says why there is nothing to do, with what the chat has for it, and that it goes on on a fork", async () => {
    const branch = await importTurns(20);
    const folder = join(workspace.runtime.home, ".config", "jpg");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.toml"), "[conversation.compaction]\nfork = true\n");
    const chat = await beginChat(branch);
    const stripped = await chat.enter("/compact strip 5");
    expect(stripped).toMatch(/Forked to [^\n]*\/compact-[0-9a-z]{4}, now active\n/);
    const nothing = await chat.enter("/compact strip 5");
    expect(nothing).toContain("Nothing to compact. Everything that may be removed is already compacted.\n");
    expect(nothing).toContain("hint: /compact N keeps N messages, /compact strip N strips the others.\n");
    expect(nothing).not.toContain("jpg compact");
  });

  it("/compact leaves recent messages as they were, and undo brings the rest back", async () => {
    const chat = await beginChat(await importTurns(20));
    expect(await chat.enter("/compact")).toMatch(
      /Compacted 45 messages into summary\n\/diff shows .*; \/compact undo undoes it\n\n\[Summary \+ 15 messages\]/,
    );
    expect(await chat.press(`/compress${ENTER}`, "[N] No")).toContain("too short to compact (< 30 messages)");
    await chat.press("n", PROMPT);
    expect(await chat.enter("/compact undo")).toMatch(/Reverted .*\n\n?\[60 messages\]/s);
    expect(await chat.enter("/summarize 5")).toMatch(/\[Summary \+ 6 messages\]/);
  });

  it.each([
    "/compact abc",
    "/compact -5",
    "/compact 1.5",
    "/compact 5 6",
    "/compact undo 3",
    "/compact --preview --preview",
  ])("%s is an error and does nothing", async (line) => {
    const branch = await importTurns(20);
    const tip = await tipOf(workspace, branch);
    const chat = await beginChat(branch);
    const shown = await chat.enter(line);
    expect(shown).toContain("error: /compact: expected how many recent messages stay");
    expect(shown).toContain("[60 messages]");
    expect(await tipOf(workspace, branch)).toBe(tip);
  });

  it("/compact --preview shows what would go and does nothing", async () => {
    const branch = await importTurns(20);
    const tip = await tipOf(workspace, branch);
    const chat = await beginChat(branch);
    expect(await chat.enter("/compact --preview 5")).toMatch(/Would compact .* 0\.\.17.*Would compact 54 messages/s);
    expect(await tipOf(workspace, branch)).toBe(tip);
  });

  it("/compact asks whether a short conversation is to be compacted anyway", async () => {
    const branch = await importTurns(9);
    const tip = await tipOf(workspace, branch);
    const chat = await beginChat(branch);
    const asked = await chat.press(`/compact${ENTER}`, "[N] No");
    expect(asked).toMatch(/too short to compact \(< 30 messages\)\nIt has 27 messages. Compact anyway\?/);
    expect(asked).toContain("[Y] Yes, a summary, keeping the last 13");
    await chat.press(CTRL_C, PROMPT);
    expect(await tipOf(workspace, branch)).toBe(tip);
    await chat.press(`/compact${ENTER}`, "[N] No");
    const done = await chat.press("y", PROMPT);
    expect(done).toMatch(
      /Compacted 12 messages into summary\n(?:warning: saves only .*\n)?\/diff shows.*\/compact undo.*\[Summary \+ 15 messages\]/s,
    );
    expect(await chat.enter("/compact undo")).toContain("[27 messages]");
    expect(await chat.enter("/compact --preview")).toContain("Would compact 12 messages");
  });

  it("/compact strip takes out reasoning and tool calls without a model, also of a short conversation", async () => {
    const branch = (await importBytes(workspace, smallSession({ turns: 9 }))).branch;
    const chat = await beginChat(branch);
    expect(await chat.enter("/compact strip 6")).toMatch(
      /— context compacted .*\nStripped reasoning.*\n(?:warning: .*\n)?\/diff shows/,
    );
    // Cut to the terminal before the tokens.
    expect(await chat.enter("/log")).toMatch(/reasoning \+ tools \w+… \([\d.]+k → [\d.]+k\)/);
    await chat.enter("/compact undo");
    await chat.press(`/compact${ENTER}`, "[S] Strip");
    expect(await chat.press("s", PROMPT)).toContain("Stripped reasoning");
    expect(await chat.enter("/compact strip --model x")).toContain("expected how many");
  });

  it("/fork goes on in a fork and leaves the branch as it was", async () => {
    const branch = await importTurns(2);
    const tip = await tipOf(workspace, branch);
    const chat = await beginChat(branch, { scripts: answers(1) });
    expect(await chat.enter("/fork try-b")).toContain("this chat continues on");
    await chat.enter("Elsewhere");
    expect(await tipOf(workspace, branch)).toBe(tip);
    expect(await lastTurn(branch.replace("/main", "/try-b"))).toContain("Elsewhere");
  });

  it("/log, /diff and /revert speak of this conversation's compactions", async () => {
    const chat = await beginChat(await importTurns(20));
    expect(await chat.enter("/diff")).toContain("No difference");
    await chat.enter("/compact");
    const log = await chat.enter("/log");
    const id = /\((\w{6}), live\)/.exec(log)?.[1] ?? "";
    expect(log).toContain("compact 0..14: summary");
    expect(await chat.enter(`/diff ${id}`)).toContain("CONVERSATION HISTORY SUMMARY");
    expect(await chat.press("/revert \t", id)).toContain(id);
    expect(await chat.press(ENTER, "[60 messages]")).toContain(`Reverted ${id}`);
    expect(await chat.enter("/revert")).toContain("expected a compaction");
  });

  it("/model tells the model, and takes another one that can be asked", async () => {
    const branch = await importTurns(1);
    const chat = await beginChat(branch);
    expect(await chat.enter("/model")).toContain("test/model-1 (100.0k tokens of context)");
    expect(await chat.enter("/model nonsense/x")).toContain("nonsense");
    expect(await chat.enter("/model anthropic/claude-haiku")).toContain("ANTHROPIC_API_KEY");
    expect(await chat.enter("/model")).toContain("test/model-1");
  });

  it("/export writes the view, or everything, and replaces only a file that was named", async () => {
    const branch = await importTurns(20);
    const chat = await beginChat(branch);
    await chat.enter("/compact");
    const file = (name: string): string => join(workspace.runtime.cwd, name);
    expect(await chat.enter("/export the view.md")).toContain("Wrote");
    expect(readFileSync(file("the view.md"), "utf8")).not.toContain("thought 2:");
    await chat.enter("/export --include-full-history all.jsonl");
    expect(readFileSync(file("all.jsonl"), "utf8")).toContain("thought 2:");
    await chat.enter("/export");
    expect(existsSync(file(`${branch.replace("/main", "")}.md`))).toBe(true);
    expect(await chat.enter("/export")).toContain("already exists");
    expect(await chat.enter("/export --full")).toContain("does not know --full");
  });

  it("that does not exist is an error that names the nearest one", async () => {
    const chat = await beginChat(await importTurns(1));
    expect(await chat.enter("/modle")).toContain("Did you mean /model?");
    expect(await chat.enter("/")).toContain("/help lists the commands");
    expect(await chat.enter("/help")).toMatch(/\/compact \[N\].*\/summarize +the same as \/compact.*\/quit/s);
  });

  it("is completed with Tab", async () => {
    const chat = await beginChat(await importTurns(1));
    expect(await chat.press("/comp\t--\t", "--model")).toMatch(/--preview\s+--model/);
    expect(await chat.press("p\t", "--preview ")).toContain("/compact --preview ");
  });

  it("/help fits the terminal, wide or narrow", async () => {
    const first = { 40: /^ {2}\/compact \[N\]\n {6}summarise/m, 80: /^ {2}\/compact \[N\] +summarise/m };
    for (const columns of [40, 80] as const) {
      const chat = await beginChat(null, { columns });
      const help = (await chat.enter("/help")).split("\n");
      expect(help.join("\n")).toMatch(first[columns]);
      // One that is typed is never broken.
      const tooWide = help.filter((line) => line.length > columns && !line.startsWith("  /export"));
      expect(tooWide).toEqual([]);
      await chat.keyboard.hangUp();
    }
  });

  it("/new starts another conversation with the next message, and says how to come back", async () => {
    const branch = await importTurns(2);
    const chat = await beginChat(branch, { scripts: answers(1) });
    expect(await chat.enter("/new")).toContain(`\`jpg chat ${branch}\` continues the one before\n\n[0 messages]`);
    expect(await chat.enter("Something else")).toContain("[2 messages]");
    expect(chat.requests()[0]).not.toContain("Request 1");
    const tips = await workspace.store.listBranches();
    expect(tips.map(({ name }) => name)).toEqual([branch, expect.stringMatching(/^something-else-/)]);
    expect(await chat.enter("/new now")).toContain("takes no words; got now");
  });

  it("/retry asks the last message again on a fork, whole; the answer that is there stays", async () => {
    const branch = await importTurns(2);
    const chat = await beginChat(branch, { scripts: answers(3) });
    const long = "tide ".repeat(60_000);
    writeFileSync(join(workspace.runtime.cwd, "tides.txt"), long);
    await chat.enter("What is in @tides.txt?");
    const tip = await tipOf(workspace, branch);
    const shown = await chat.enter("/retry");
    expect(shown).toMatch(
      new RegExp(
        `Asking turn \\d+ again on the fork .*; ${branch} stays as it is\\n(.*\\n)*Reply 1\\.\\n\\n\\[8 messages\\]`,
      ),
    );
    const [first, again] = chat.requests();
    expect(again).toContain(long);
    expect(again).not.toContain("Reply 0.");
    expect(again?.match(/What is in/g)).toHaveLength(first?.match(/What is in/g)?.length ?? 0);
    expect(await tipOf(workspace, branch)).toBe(tip);
    expect(await workspace.store.readActiveBranch()).not.toBe(branch);
  });

  it("/retry sends a message again that nobody answered, where it was to go", async () => {
    const branch = await importTurns(1);
    const chat = await beginChat(branch, { scripts: [[new Error("the tide took it")], ...answers(2)] });
    await chat.enter("Hello?");
    expect(await chat.enter("/retry")).toMatch(/Reply 0\.\n\n\[5 messages\]/);
    expect(await lastTurn(branch)).toMatch(/Hello\?.*Reply 0\./);
    const other = await beginChat(null, { scripts: answers(1) });
    expect(await other.enter("/retry")).toContain("This conversation is still empty");
  });

  it("/tokens shows where the tokens are, and the window", async () => {
    const chat = await beginChat(await importTurns(2));
    const shown = await chat.enter("/tokens");
    expect(shown).toMatch(/TOKENS.*RAW +VIEW/);
    expect(shown).toMatch(/Your next message sends test\/model-1 about \d+ tokens, 1 % of its window of 100\.0k/);
  });

  it("/quit leaves, and so does the end of the terminal", async () => {
    const branch = await importTurns(1);
    const chat = await beginChat(branch);
    await chat.keyboard.type(`/quit${ENTER}`);
    await chat.done;
    const other = await beginChat(branch);
    await other.keyboard.hangUp();
    await other.done;
  });
});

describe("a view that comes near the window", () => {
  it("is warned of once", async () => {
    const branch = await importTurns(8);
    const model = createScriptedModel(answers(2));
    const small = { ...model, facts: { ...model.facts, contextWindow: 500 } };
    const chat = await beginChat(branch, { state: { model: small } });
    expect(chat.keyboard.screen()).toMatch(/warning: the conversation fills \d+% of the model's context; \/compact/);
    expect(await chat.enter("More")).not.toContain("warning");
  });
});
