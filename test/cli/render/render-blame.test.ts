import { expect, it } from "vitest";
import type { BlameReport, BlameRow } from "../../../src/app/look/blame.ts";
import { displayWidth } from "../../../src/cli/frame/terminal.ts";
import { renderBlame } from "../../../src/cli/render/list.ts";
import { forTerminal } from "../../../src/core/safe-text.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const by = {
  compaction: "k3f9q2",
  commit: "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678",
  author: "Ada",
  timestamp: "2026-11-21T20:30:00Z",
  subject: "compact 0..3: summary",
};
const hidden = (event: string, sees = "They met.\nThey left."): BlameRow => ({
  event,
  type: "chat_request",
  turn: 0,
  state: "hidden",
  action: "replaced by a summary",
  by,
  sees,
});
const report = (...rows: readonly BlameRow[]): BlameReport => ({ branch: "pier-k3f9/main", rows });

it("tells of one event who decided, what stands in its place, and how to take that back", () => {
  expect(renderBlame(report({ ...hidden("e1"), next: "a00001" }), PLAIN).split("\n")).toEqual([
    "k3f9q2  Ada  2026-11-21 20:30  e1  chat_request  replaced by a summary",
    "",
    "3fa9c1d compact 0..3: summary",
    "The model sees instead:",
    "    They met.",
    "    They left.",
    "",
    "`jpg revert k3f9q2` undoes it; the event is then decided by a00001.",
  ]);
});

it("tells of a turn each compaction once, with the text that stands for all of it", () => {
  expect(
    renderBlame(report(hidden("e1"), hidden("e2")), PLAIN)
      .split("\n")
      .slice(2),
  ).toEqual(["", "3fa9c1d compact 0..3: summary", "The model sees instead:", "    They met.", "    They left."]);
});

it("cuts a long text, and names the command that has the rest", () => {
  const text = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
  const lines = renderBlame(report(hidden("e1", text), hidden("e2", text)), PLAIN).split("\n");
  expect(lines.slice(-2)).toEqual(["    line 11", "    … 8 more lines (`jpg show k3f9q2`)"]);
});

it("points to single events where some were changed, and says nothing more of what is shown", () => {
  const shown: BlameRow = { event: "e2", type: "chat_response", turn: 0, state: "shown" };
  const changed: BlameRow = { ...hidden("e1", "[compacted] look: success"), state: "changed", action: "stripped" };
  const lines = renderBlame(report(changed, shown), PLAIN).split("\n");
  expect(lines.at(-1)).toBe("`jpg blame EVENT` shows what the model sees in place of one event.");
  expect(renderBlame(report(shown, shown), PLAIN)).not.toContain("\n\n");
});

it.each([80, 100])("is one line a hit in %i columns, whatever names are long, and says what was done", (width) => {
  const events = ["5a08ba8f-1d68-4a5a-b8c0-3ac4a14ce6d1", "toolu_01VqkR8wqkyQ7YdD1xV4LmnP", "e1"];
  const actions = ["replaced by a summary", "reasoning stripped", "tool results stripped, 9 calls omitted"];
  const author = "Margarethe Wellenbrecher-von der Mole";
  const rows = events.flatMap((event, at): readonly BlameRow[] => [
    { ...hidden(event), type: "tool_call_response", action: actions[at] ?? "", by: { ...by, author } },
    { event, type: "chat_request", turn: 0, state: "shown" },
  ]);
  const lines = renderBlame({ branch: "b", rows }, { ...PLAIN, width })
    .split("\n")
    .slice(0, rows.length);
  expect(lines.filter((line) => displayWidth(forTerminal(line)) > width)).toEqual([]);
  for (const [at, line] of lines.entries())
    expect(line).toMatch(at % 2 === 0 ? /^k3f9q2 .* (?:repl|reas|tool)/ : /^- .* shown$/);
});
