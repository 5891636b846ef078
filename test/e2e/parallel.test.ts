// Several jpgs at once in a project without a store, as an agent's parallel calls are.
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let box: Sandbox;
beforeEach(() => {
  box = createSandbox({ process: true });
});
afterEach(() => box.remove());

const SESSIONS = ["1", "2", "3", "4"].map((digit) => `${digit}000000a-0000-4000-8000-000000000001`);

it("four imports at once make one store and bring in all four sessions", { tags: ["slow"] }, async () => {
  const files = SESSIONS.map((id) => box.session(`${id}.jsonl`, smallSession({ turns: 2, id })));
  const results = await Promise.all(files.map((file) => box.jpg(["import", file])));
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(SESSIONS.map(() => [0, ""]));
  const list = await box.json<readonly { readonly active: boolean }[]>(["ls"]);
  expect(list).toHaveLength(4);
  expect(list.filter(({ active }) => active)).toHaveLength(1);
  expect(box.git(["status", "--short"])).toBe("");
});

it("the same session imported four times at once is one conversation", { tags: ["slow"] }, async () => {
  const file = box.session("one.jsonl", smallSession({ turns: 2 }));
  const results = await Promise.all(SESSIONS.map(() => box.jpg(["import", file])));
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(SESSIONS.map(() => [0, ""]));
  expect(await box.json(["ls"])).toHaveLength(1);
});
