import { describe, expect, it } from "vitest";
import { openTasks } from "../../../src/core/extract/open-tasks.ts";
import { listToolCalls } from "../../../src/core/tools/tool-call.ts";
import type { Turn } from "../../../src/core/turn.ts";
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

  it("takes no list of other things for tasks", () => {
    expect(tasksOf([answer("I changed:\n- a.ts\n- b.ts")])).toEqual([]);
    const rows = call("query", { rows: [{ status: "ok", id: 1 }] });
    expect(tasksOf(callTurns([rows]))).toEqual([]);
  });
});
