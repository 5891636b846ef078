import { describe, expect, it } from "vitest";
import { openTasks } from "../../../src/core/compact/gather.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";

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

  it("passes over a list that was refused", () => {
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

  it("finds the list behind arguments that are none, and passes over calls without one", () => {
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

  it("passes over single tasks that were refused, and calls of another form", () => {
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
