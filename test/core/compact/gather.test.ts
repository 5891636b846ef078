import { describe, expect, it } from "vitest";
import { groupTurns, type PlacedEvent } from "../../../src/core/compact/event-ledger.ts";
import { endingOf, gather, openTasks } from "../../../src/core/compact/gather.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import type { Content, Event, Turn } from "../../../src/core/conversation/event.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";
import { NOTHING_GATHERED } from "../../helpers/nothing-gathered.ts";

const tasksOf = (turns: readonly Turn[]): readonly string[] =>
  openTasks(
    turns.flatMap(({ index, events }) => events.map((event) => ({ turn: index, event }))),
    listToolCalls(turns),
  );

const answer = (message: string): Turn => ({
  index: 0,
  events: [{ type: "chat_response", id: "a", timestamp: "", message }],
});

describe("openTasks", () => {
  it("reads the lists of several agents", () => {
    const codex = call("update_plan", { explanation: "x", plan: [{ step: "port it", status: "in_progress" }] });
    const gemini = call("write_todos", { todos: [{ description: "ship it", status: "pending" }] });
    expect(tasksOf(callTurns([codex]))).toEqual(["port it"]);
    expect(tasksOf(callTurns([gemini]))).toEqual(["ship it"]);
  });

  it("follows tasks that are made and closed one by one", () => {
    const create = (subject: string, id: string): CallSpec =>
      call("TaskCreate", { subject }, `Task #${id} created successfully: ${subject}`);
    const update = (taskId: string, status: string): CallSpec => call("TaskUpdate", { taskId, status });
    const turns = callTurns(
      [create("first", "1"), create("second", "2"), update("1", "completed")],
      [create("third", "3"), update("2", "in_progress"), update("9", "completed")],
    );
    expect(tasksOf(turns)).toEqual(["second", "third"]);
  });

  it("skips a list that was refused", () => {
    const kept = call("TodoWrite", { todos: [{ content: "kept", status: "pending" }] });
    const refused = failed("TodoWrite", { todos: [{ content: "refused", status: "pending" }] });
    expect(tasksOf(callTurns([kept, refused]))).toEqual(["kept"]);
  });

  it("knows that all is done", () => {
    const done = call("TodoWrite", { todos: [{ content: "a", status: "completed" }] });
    expect(tasksOf(callTurns([done]))).toEqual([]);
  });

  it("reads what an answer says is left", () => {
    const said = "All done.\n\n## Next steps\n\n1. Write the docs\n2. Tag a release\n\nThe rest is fine.\n- no task";
    expect(tasksOf([answer(said)])).toEqual(["Write the docs", "Tag a release"]);
    expect(tasksOf([answer("- [x] old\n- [ ] new one")])).toEqual(["new one"]);
  });

  const list = (todos: unknown): CallSpec => call("anyName", { todos });

  it.each([
    ["content", { status: "pending", content: "a" }, ["a"]],
    ["the first known key", { status: "pending", title: "b", subject: "a" }, ["a"]],
    ["a known key that holds a text", { status: "pending", content: 1, name: "a" }, ["a"]],
    ["no text", { status: "pending", other: "a" }, []],
    ["no status", { content: "a" }, []],
    ["a status that is no text", { status: 1, content: "a" }, []],
    ["no entry", null, []],
    ["a text alone", "a", []],
    ["a closed one", { status: "Cancelled", content: "a" }, []],
    ["one that is not quite closed", { status: "not done", content: "a" }, ["a"]],
  ])("reads an entry with %s", (_, entry, tasks) => {
    expect(tasksOf(callTurns([list([entry])]))).toEqual(tasks);
    const other = { status: "pending", content: "z" };
    const isTask = tasks.length > 0 || (entry as { status?: unknown } | null)?.status === "Cancelled";
    expect(tasksOf(callTurns([list([other, entry])]))).toEqual(isTask ? ["z", ...tasks] : []);
  });

  it("finds the list among other arguments, and skips calls without one", () => {
    const todos = [{ status: "pending", content: "a" }];
    expect(tasksOf(callTurns([call("plan", { note: "x", tags: [], ids: [1], todos })]))).toEqual(["a"]);
    const others = [call("x", null), call("x", "text"), call("x", ["y"]), call("x", { todos: [] })];
    expect(tasksOf(callTurns([list(todos), ...others]))).toEqual(["a"]);
  });

  it("counts a call that has no result yet", () => {
    expect(tasksOf(callTurns([call("plan", { todos: [{ status: "open", content: "a" }] }, null)]))).toEqual(["a"]);
    expect(tasksOf(callTurns([call("TaskCreate", { subject: "a" }, null)]))).toEqual(["a"]);
  });

  it("takes the numbers of single tasks from the answers, else by counting", () => {
    const create = (subject: unknown, result: string): CallSpec => call("TaskCreate", { subject }, result);
    const close = (taskId: unknown): CallSpec => call("TaskUpdate", { taskId, status: "completed" });
    const made = [create("one", "created"), create("two", "created"), create("three", "Task #x7 created")];
    expect(tasksOf(callTurns([...made, close(2)]))).toEqual(["one", "three"]);
    expect(tasksOf(callTurns([...made, close("x7")]))).toEqual(["one", "two"]);
    expect(tasksOf(callTurns([...made, close("3")]))).toEqual(["one", "two", "three"]);
    expect(tasksOf(callTurns([create("far", `${" ".repeat(199)}#5`), close("5")]))).toEqual(["far"]);
    expect(tasksOf(callTurns([create("near", `${" ".repeat(198)}#5`), close("5")]))).toEqual([]);
  });

  it("skips single tasks that were refused, and calls of another form", () => {
    const one = call("TaskCreate", { subject: "one" }, "Task #1");
    const refusals = [
      failed("TaskCreate", { subject: "two" }),
      failed("TaskUpdate", { taskId: "1", status: "completed" }),
      call("TaskUpdate", { taskId: "1", status: 5 }),
      call("TaskUpdate", null),
      call("TaskCreate", { subject: 5 }),
      call("TaskGet", { subject: "three", taskId: "1", status: "completed" }),
      call("TaskCreate", "four"),
    ];
    expect(tasksOf(callTurns([one, ...refusals]))).toEqual(["one"]);
  });

  it("opens a task again, and keeps its place", () => {
    const update = (status: string): CallSpec => call("TaskUpdate", { taskId: "1", status });
    const made = ["1", "2"].map((id) => call("TaskCreate", { subject: `task ${id}` }, `Task #${id}`));
    expect(tasksOf(callTurns([...made, update("completed"), update("pending")]))).toEqual(["task 1", "task 2"]);
  });

  it("gives forty tasks at the most, each once, on one line of 200 characters", () => {
    const todos = Array.from({ length: 41 }, (_, n) => ({ status: "pending", content: `task ${n}` }));
    expect(tasksOf(callTurns([list(todos)]))).toEqual(todos.slice(0, 40).map(({ content }) => content));
    const texts = ["a\n b", " a b ", " ", "x".repeat(200), "y".repeat(201)];
    const entries = texts.map((content) => ({ status: "pending", content }));
    expect(tasksOf(callTurns([list(entries)]))).toEqual(["a b", "x".repeat(200), `${"y".repeat(198)} …`]);
  });

  it("searches the three newest messages for a list of what is left", () => {
    const said = (...messages: readonly string[]): Turn => ({
      index: 0,
      events: messages.flatMap((message) => [
        ...answer(message).events,
        { type: "turn_start", id: "s", timestamp: "" },
      ]),
    });
    expect(tasksOf([said("- [ ] old", "- [ ] a", "b")])).toEqual(["a"]);
    expect(tasksOf([said("- [ ] a", "b", "c")])).toEqual(["a"]);
    expect(tasksOf([said("- [ ] a", "b", "c", "d")])).toEqual([]);
    const thought = { type: "chat_response", id: "t", timestamp: "", reasoning: "- [ ] thought" } as const;
    expect(tasksOf([{ index: 0, events: [...said("- [ ] a", "b", "c").events, thought] }])).toEqual(["a"]);
  });

  it.each([
    ["Remaining:\n* a\n+ b\n• c\n2) d", ["a", "b", "c", "d"]],
    ["Still to do\n\n- a\n\ntext\n- b", ["a"]],
    ["Next steps:\n- a\n- [ ] b\n- [x] c", ["a", "b", "[x] c"]],
    ["The remaining work is fine.\n- a", []],
    ["- a", []],
    [`Todo:\n- ${"a".repeat(500)}`, [`${"a".repeat(198)} …`]],
  ])("reads what %j says is left", (message, tasks) => {
    expect(tasksOf([answer(message)])).toEqual(tasks);
  });

  it("takes no list of other things for tasks", () => {
    expect(tasksOf([answer("I changed:\n- a.ts\n- b.ts")])).toEqual([]);
    const rows = call("query", { rows: [{ status: "ok", id: 1 }] });
    expect(tasksOf(callTurns([rows]))).toEqual([]);
  });
});

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const ask = (content: Content): Event => ({ type: "chat_request", ...base, content });
const say = (message: Content): Event => ({ type: "chat_response", ...base, message });
const think = (reasoning: string): Event => ({ type: "chat_response", ...base, reasoning });
const place = (...turns: readonly (readonly Event[])[]): readonly PlacedEvent[] =>
  turns.flatMap((events, turn) => events.map((event) => ({ turn, event })));
const gatherCalls = (...calls: readonly CallSpec[]) => gather(place(...callTurns(calls).map(({ events }) => events)));

describe("gather", () => {
  it("separates requests, messages and the last message of each turn", () => {
    const found = gather(place([ask("one"), think("hm"), say("a"), say("b")], [ask("two")], [ask("three"), say("c")]));
    expect(found).toEqual({
      ...NOTHING_GATHERED,
      requests: [
        { turn: 0, text: "one" },
        { turn: 1, text: "two", answerBefore: "b" },
        { turn: 2, text: "three", answerBefore: "b" },
      ],
      messages: [
        { turn: 0, text: "a" },
        { turn: 0, text: "b" },
        { turn: 2, text: "c" },
      ],
      answers: [
        { turn: 0, text: "b" },
        { turn: 2, text: "c" },
      ],
    });
  });

  it.each<[string, Content, readonly string[]]>([
    ["texts on lines of their own", [text("one"), text("two")], ["one\ntwo"]],
    ["a text that was moved away by its name", { $attachment: "abc" }, ["[attachment abc]"]],
    ["attachments by their names", [attachment("a.txt"), attachment()], ["[attachment a.txt]\n[attachment]"]],
    ["media behind the text", [image("image"), text("see"), image("document")], ["see\n[image]\n[document]"]],
    ["media alone", [image("image")], ["[image]"]],
    ["no opaque part", [{ type: "opaque", value: "secret" }, text("see")], ["see"]],
    ["no blank text", " \n", []],
    ["no request without parts", [], []],
  ])("shows of a request %s", (_, content, texts) => {
    expect(gather(place([ask(content)])).requests.map((said) => said.text)).toEqual(texts);
  });

  it("separates files that were changed, files of which every change failed and files that were read", () => {
    const found = gatherCalls(
      call("Read", { file_path: "read.ts" }),
      call("Read", { file_path: "failed.ts" }),
      call("Read", { file_path: "edited.ts" }),
      failed("Edit", { file_path: "edited.ts" }),
      call("Edit", { file_path: "edited.ts" }),
      failed("Edit", { file_path: "failed.ts" }),
      failed("Edit", {}),
      failed("apply_patch", "*** Begin Patch\n*** Update File: a.py\n*** Update File: b.py\n*** End Patch"),
    );
    expect(found).toMatchObject({
      modified: ["edited.ts"],
      notModified: ["failed.ts", "a.py", "b.py"],
      read: ["read.ts"],
    });
  });

  it("counts tools, the most called first", () => {
    const found = gatherCalls(call("Grep", {}), call("Read", {}), call("Bash", {}), call("Read", {}), call("Bash", {}));
    expect(found.tools).toEqual(["Read 2x", "Bash 2x", "Grep 1x"]);
  });

  it("takes nothing that nobody typed for a request or an answer", () => {
    const exit = "<command-name>/exit</command-name><command-message>exit</command-message>";
    const found = gather(
      place([ask("<system-reminder>x</system-reminder>one"), say("1")], [ask(exit), say("No response requested.")]),
    );
    expect(found.requests.map((said) => said.text)).toEqual(["one"]);
    expect(found.answers.map((said) => said.text)).toEqual(["1"]);
  });

  it("gathers commands, commits, failures and how it ends", () => {
    const found = gatherCalls(
      call("Bash", { command: "cd /p && npm test 2>&1 | tail -3" }, "ok"),
      call("Bash", { command: "cat a.ts" }),
      failed("Bash", { command: "npm test" }),
      call("Bash", { command: "git commit -qm 'Add a'" }, ""),
    );
    expect(found).toMatchObject({
      commands: [{ command: "`npm test`", failed: true }],
      commits: [{ turn: 0, line: "Add a" }],
      failures: [{ what: "`npm test`", lines: ["no such file"], fixed: null }],
      ending: { unfinished: null, actions: [] },
    });
  });
});

function text(words: string) {
  return { type: "text", text: words } as const;
}

function attachment(name?: string) {
  return name === undefined ? ({ type: "attachment" } as const) : ({ type: "attachment", name, text: "x" } as const);
}

function image(type: "image" | "document") {
  return { type, data: "AAAA" } as const;
}

let made = 0;
const baseEnding = () => ({ id: `e${made++}`, timestamp: "2026-01-01T00:00:00Z" });
const askEnding = (content: string, origin?: string): Event => ({
  type: "chat_request",
  ...baseEnding(),
  content,
  ...(origin === undefined ? {} : { metadata: { origin } }),
});
const sayEnding = (message: string): Event => ({ type: "chat_response", ...baseEnding(), message });
const thinkEnding = (reasoning: string): Event => ({ type: "chat_response", ...baseEnding(), reasoning });
const run = (command: string, result: string | null = "ok", is_error = false): readonly Event[] => {
  const call_id = `c${made++}`;
  const request: Event = { type: "tool_call_request", ...baseEnding(), call_id, name: "Bash", arguments: { command } };
  if (result === null) return [request];
  return [request, { type: "tool_call_response", ...baseEnding(), call_id, content: result, is_error }];
};
const ending = (...events: readonly Event[]) => {
  const placed: readonly PlacedEvent[] = events.map((event) => ({ turn: 0, event }));
  return endingOf(placed, listToolCalls(groupTurns(placed)));
};
const why = (...events: readonly Event[]) => ending(...events).unfinished;

describe("endingOf", () => {
  it.each([
    "Done. All tests pass.",
    "Committed as 1a2b3c4. Working tree is clean.",
    "Fixed. Let me know if you need anything else!",
    "It is fixed.\n\nIs there anything else you need?",
    "Running with an empty config makes the whole suite of the project green again, as expected.",
    "Erledigt.",
  ])("takes %j for the end of the work", (text) => {
    expect(ending(askEnding("fix it"), ...run("npm test"), sayEnding(text))).toEqual({ unfinished: null, actions: [] });
  });

  it.each([
    "Let me check the parser.",
    "The parser is fine. Now let me look at the lexer:",
    "I'll run the tests next.",
    "Five agents are at it. Waiting for their results.",
    "The key is locked. Once you've unlocked it, say the word and I'll go on.",
    "Ich werde jetzt die Tests ausführen.",
    "Je vais lancer les tests.",
    "接下来运行测试。",
    "Das sind die Schritte:",
  ])("takes %j for an announcement", (text) => {
    expect(why(askEnding("fix it"), sayEnding(text))).toBe("announced");
  });

  it("knows a question to the user, with its words", () => {
    expect(ending(askEnding("fix it"), sayEnding("I see two ways.\n\nWhich one do you want?"))).toMatchObject({
      unfinished: "asked",
      question: "Which one do you want?",
    });
  });

  it("knows a request without an answer, a call, a result, and an interruption", () => {
    expect(why(askEnding("one"), sayEnding("1"), askEnding("two"))).toBe("unanswered");
    expect(why(askEnding("one"), thinkEnding("hm"))).toBe("unanswered");
    expect(why(askEnding("one"), sayEnding("I look"), ...run("ls", null))).toBe("working");
    expect(why(askEnding("one"), ...run("ls"))).toBe("working");
    expect(why(askEnding("one"), ...run("ls"), thinkEnding("hm"))).toBe("working");
    expect(why(askEnding("one"), sayEnding("I look"), askEnding("[Request interrupted by user]", "harness"))).toBe(
      "interrupted",
    );
  });

  it("recognises an answer after a call that failed", () => {
    expect(why(askEnding("one"), ...run("npm test", "1 failing", true), sayEnding("The tests were run."))).toBe(
      "failed",
    );
    expect(
      why(askEnding("one"), ...run("npm test", "1 failing", true), ...run("npm test"), sayEnding("All pass.")),
    ).toBeNull();
  });

  it("skips what a harness adds and commands that ask for nothing", () => {
    const exit = askEnding("<command-name>/exit</command-name>");
    expect(why(askEnding("one"), sayEnding("Done."), askEnding("a hook ran", "harness"), exit)).toBeNull();
    expect(why()).toBeNull();
  });

  it("lists the last actions, with their outcome", () => {
    const calls = [1, 2, 3, 4].flatMap((n) => run(`make part-${n}`));
    const { actions } = ending(
      askEnding("one"),
      ...calls,
      ...run("make it", "make: *** [it] Error 2", true),
      ...run("ls", null),
    );
    expect(actions).toEqual([
      "`make part-2`",
      "`make part-3`",
      "`make part-4`",
      "`make it` (failed: make: *** [it] Error 2)",
      "`ls` (no result yet)",
    ]);
  });
});
