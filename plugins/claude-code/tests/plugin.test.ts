// `claude plugin test plugins/claude-code`: what the plug-in asks and does with each answer, also where a session here cannot provoke
// it (compactions ahead of time, idle ones, those of sub-agents, newer versions). jpg and the engine are played by the tests.
import { expect, test } from "claude-code/testing";

const MARKER = "Compacted [jpg 1 compact abcd 0123456789ab 2]";
const DONE = {
  jpg: 1,
  done: "compact",
  messages: [{ handle: "h1" }, { role: "assistant", text: "short", toolUses: [] }],
  marker: MARKER,
  status: { band: [{ text: "jpg  12 %" }] },
};
const ROWS = [
  { role: "user", text: "read a", toolUses: [], handle: "h1" },
  { role: "assistant", text: "", toolUses: [{ tool_use_id: "c1", tool: "Read", input: {} }], handle: "h2" },
  {
    role: "user",
    text: "",
    toolUses: [],
    toolResults: [{ tool_use_id: "c1", text: "long", isError: false }],
    handle: "h3",
  },
];
const OWN = "Claude Code's own";

/** Plays the engine, and jpg as `answer`; collects what the plug-in does. */
function play(on, answer, { version = "2.1.332" } = {}) {
  const seen = { asked: [], logged: [], appended: [], limits: [], commands: [], own: 0 };
  const give = (name, value) => on(name, async () => ({ value }));
  give("session.info", { transcriptPath: "/t.jsonl" });
  give("session.id", "id-1");
  give("session.root", "/work");
  give("session.surfaces", ["terminal"]);
  give("session.model", "claude-sonnet-4-5");
  give("session.version", { version });
  give("session.usage", { context: { window: 200000, tokens: 1234 }, rateLimits: [], startedAt: 0 });
  give("clock.now", 1000);
  give("ui.invalidate", undefined);
  give("tool.register", { tool: "t" });
  give("command.register", { command: "c" });
  on("session.start", async (_$, e) => ({ cwd: e.cwd }));
  const stored = new Map();
  on("store.get", async (_$, e) => ({ value: stored.get(e.key) }));
  on("store.set", async (_$, e) => {
    stored.set(e.key, e.value);
    return { value: undefined };
  });
  on("clock.after", async () => ({ value: undefined }));
  on("command.run", { command: "compact" }, async (_$, e) => {
    seen.commands.push(e.args);
    return { text: "" };
  });
  on("ui.log", async (_$, e) => {
    if (e.to !== "debug") seen.logged.push(e.text);
    return { value: undefined };
  });
  on("session.append", async (_$, e, next) => {
    seen.appended.push(e.message.content[0].text);
    return next(e);
  });
  on("session.compact", async () => {
    seen.own++;
    return { messages: [{ role: "user", text: OWN, toolUses: [] }] };
  });
  on("process.run", async (_$, e) => {
    seen.asked.push(JSON.parse(e.init.stdin));
    seen.limits.push(e.init.timeoutMs);
    const said = answer(JSON.parse(e.init.stdin));
    const stdout = typeof said === "string" ? said : `${JSON.stringify(said)}\n`;
    const value = { exitCode: 0, stdout, stderr: "", isStdoutTruncated: said === "", isStderrTruncated: false };
    return { value };
  });
  return seen;
}

test("asks jpg with the rows' handles and answers with its messages", async ($, on) => {
  const seen = play(on, () => DONE);
  const { messages } = await $.session.compact({ trigger: "auto", messages: ROWS });
  expect(seen.asked[0]).toEqual({
    jpg: 1,
    agent: "claude-code",
    session: "id-1",
    transcript: "/t.jsonl",
    cwd: "/work",
    model: "claude-sonnet-4-5",
    window: 200000,
    tokens: 1234,
    version: "2.1.332",
    do: "compact",
    handles: ["h1", "h2", "h3"],
    in_loop: true,
    trigger: "auto",
  });
  expect(seen.limits).toEqual([120000]);
  expect(messages.map(({ handle, text }) => [handle, text])).toEqual([
    ["h1", "read a"],
    [undefined, "short"],
  ]);
  expect(seen.appended).toEqual([MARKER]);
  expect(seen.own).toBe(0);
});

test("leaves a sub-agent's context to Claude Code", async ($, on) => {
  const seen = play(on, () => DONE);
  const { messages } = await $.session.compact({ trigger: "auto", messages: ROWS, agentId: "a1" });
  expect([messages[0].text, seen.asked, seen.appended]).toEqual([OWN, [], []]);
});

test("computes nothing ahead of time", async ($, on) => {
  const seen = play(on, () => DONE);
  const { skip } = await $.session.compact({ trigger: "precompute", messages: ROWS });
  expect([typeof skip, seen.asked, seen.own]).toEqual(["string", [], 0]);
});

test("passes on, with one line why, where jpg has no answer", async ($, on) => {
  const answers = [
    { jpg: 1, pass: "There is nothing to gain.", code: "nothing_to_gain" },
    "no JSON\n",
    '{"jpg":2,"done":"compact"}\n',
    "",
    { ...DONE, messages: [{ handle: "unknown" }] },
    { ...DONE, messages: undefined },
  ];
  const seen = play(on, () => answers[seen.asked.length - 1]);
  for (const _ of answers) {
    const { messages } = await $.session.compact({ trigger: "manual", messages: ROWS });
    expect(messages[0].text).toBe(OWN);
  }
  expect(seen.appended).toEqual([]);
  expect(seen.logged.length).toBe(answers.length);
  expect(seen.logged[0]).toBe("There is nothing to gain. Claude Code compacts by itself.");
});

test("skips an undo, and a compaction that /jpg-compact asked for, where jpg has no answer", async ($, on) => {
  const seen = play(on, () => ({ jpg: 1, pass: "There is nothing to take back.", code: "nothing" }));
  for (const instructions of ["[jpg] undo", "[jpg] undo k3f9", "[jpg] compact light"]) {
    const { skip } = await $.session.compact({ trigger: "manual", messages: ROWS, instructions });
    expect(skip).toBe("jpg: There is nothing to take back.");
  }
  expect(seen.asked.map((request) => [request.do, request.compaction, request.trigger, request.instructions])).toEqual([
    ["undo", undefined, undefined, undefined],
    ["undo", "k3f9", undefined, undefined],
    ["compact", undefined, "asked", "light"],
  ]);
  expect([seen.own, seen.appended]).toEqual([0, []]);
});

test("gives jpg what the user typed after /compact", async ($, on) => {
  const seen = play(on, () => DONE);
  await $.session.compact({ trigger: "manual", messages: ROWS, instructions: "the parser" });
  expect(seen.asked[0].instructions).toBe("the parser");
});

test("serves its tools", async ($, on) => {
  const seen = play(on, ({ query, event }) => ({ jpg: 1, done: "x", text: `found ${query ?? event}` }));
  await $.session.start({ cwd: "/work", surface: null, isInteractive: false });
  const search = await $.tool.call({ tool: "mcp__jpg__search", query: "quay" });
  const shown = await $.tool.call({ tool: "mcp__jpg__show", event: "e1" });
  expect([search.result, shown.result]).toEqual(["found quay", "found e1"]);
  expect(seen.asked.map((request) => request.do).filter((each) => each !== "status")).toEqual(["find", "show"]);
});

test("says once that Claude Code is newer than tested", async ($, on) => {
  const seen = play(on, () => ({ jpg: 1, pass: "Not now.", code: "x" }), { version: "2.1.1000" });
  for (const _ of [1, 2]) await $.session.start({ cwd: "/work", surface: "terminal", isInteractive: true });
  expect(seen.logged.filter((text) => text.includes("2.1.1000")).length).toBe(1);
});

test("says nothing of a version that was tested, or an older one", async ($, on) => {
  const seen = play(on, () => ({ jpg: 1, pass: "Not now.", code: "x" }), { version: "2.1.99" });
  await $.session.start({ cwd: "/work", surface: "terminal", isInteractive: true });
  expect(seen.logged).toEqual([]);
});

/** Lets what runs in the background come to its end. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 100));

const TURN = { answer: "", durationMs: 1, isAborted: false, turnId: "t1", reason: "answer" };

test("keeps at the end of each turn of the main conversation, and acts only where jpg says so", async ($, on) => {
  let act = false;
  const seen = play(on, ({ do: done }) => ({ jpg: 1, done, band: [{ text: "jpg  12 %" }], offer: true, act }));
  on("turn.complete", async () => ({ text: "" }));
  await $.turn.complete({ ...TURN, agentId: "a1" });
  await $.turn.complete(TURN);
  await settle();
  expect([seen.asked.map((request) => request.do), seen.commands]).toEqual([["keep"], []]);
  act = true;
  await $.turn.complete(TURN);
  await settle();
  expect(seen.commands).toEqual(["[jpg] compact"]);
});

test("shows the first text of the band whose time has not passed", async ($, on) => {
  const band = [
    { until: "1970-01-01T00:00:00.500Z", text: "over" },
    { until: "1970-01-01T01:00:00Z", text: "now" },
    { text: "later" },
  ];
  play(on, ({ do: done }) => ({ jpg: 1, done, band, offer: false, act: false }));
  await $.session.start({ cwd: "/work", surface: "terminal", isInteractive: true });
  await settle();
  const props = { hasSurvey: false, isCollapsed: false, isWorking: false, maxRows: 9, bodyColumns: 80 };
  const drawn = await $.ui.mount({ plugin: "jpg", surface: "terminal", component: "AbovePrompt", props });
  expect((await drawn.find({ type: "Text" }))?.text).toBe("now");
});
