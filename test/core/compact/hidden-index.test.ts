// The index of what a view hides: what it lists, in which order, how long it may be, and what it leaves out.

import { describe, expect, it } from "vitest";
import { indexHidden } from "../../../src/core/compact/hidden-index.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { call, callTurns, failed } from "../../helpers/call-conversation.ts";

/** A result of about so many tokens. */
const long = (tokens: number, head = ""): string => `${head}\n${"lorem ".repeat(tokens / 2)}`;

const omit: Compaction = {
  type: "compaction",
  id: "k",
  timestamp: "2026-02-01T00:00:00Z",
  from_turn: 0,
  to_turn: 0,
  turns: "omit",
};

function indexOf(turns: readonly Turn[], compactions: readonly Compaction[] = [omit]): readonly string[] {
  const shown = projectTurns(turns, compactions).turns.flatMap(({ events }) => events);
  return (
    indexHidden({ turns: turns.slice(0, 1), shown })
      ?.text.split("\n")
      .slice(1) ?? []
  );
}

const worked = [
  call("Read", { file_path: "/w/old.ts" }, long(20_000, "export function firstThing() {}")),
  failed("Edit", { file_path: "/w/broken.ts", old_string: "a", new_string: "b" }),
  call("Edit", { file_path: "/w/new.ts", old_string: "a", new_string: "b" }, "edited"),
  call("Bash", { command: "npm test" }, "Error: no port\nExit code: 2"),
  call("Bash", { command: "git commit -m done" }, "[main 3f2a9bc] done\nclass SecondThing"),
];

describe("an index", () => {
  it("lists files with what was done, commands with how they ended, errors, SHAs and names, newest first", () => {
    expect(indexOf(callTurns(worked, []))).toEqual([
      "Files: /w/new.ts (changed); /w/broken.ts (failed); /w/old.ts (read)",
      "Commands: git commit -m done → ok; npm test → exit 2",
      "Errors: Error: no port; no such file",
      "SHAs: 3f2a9bc",
      "Names: SecondThing; firstThing",
    ]);
  });

  it("names nothing that is still in the view", () => {
    const later = [call("Bash", { command: "npm test" }, "/w/new.ts and firstThing")];
    const text = indexOf(callTurns(worked, later)).join("\n");
    expect(text).not.toMatch(/new\.ts|npm test|firstThing/);
    expect(text).toContain("/w/old.ts (read)");
  });

  it("takes a fiftieth of what is hidden and 1,500 tokens at most, the newest first", () => {
    for (const [reads, most] of [
      [40, 0.02 * 40 * 520],
      [400, 1500],
    ] as const) {
      const calls = Array.from({ length: reads }, (_, at) =>
        call("Read", { file_path: `/work/some/long/folder/file-${at}.ts` }, long(500)),
      );
      const turns = callTurns(calls, []);
      const index = indexHidden({ turns: turns.slice(0, 1), shown: turns[1]?.events ?? [] });
      const tokens = estimateEvent({ type: "chat_request", id: "", timestamp: "", content: index?.text ?? "" });
      expect(tokens).toBeLessThanOrEqual(most);
      expect(tokens).toBeGreaterThan(most / 4);
      expect(index?.text).toContain(`file-${reads - 1}.ts`);
    }
  });

  it("appends what the index that it replaces says of turns that are not loaded", () => {
    const turns = callTurns(
      [call("Edit", { file_path: "/w/new.ts", old_string: "a", new_string: long(20_000) }, "edited")],
      [],
    );
    const former =
      "[heading]\nFiles: /w/gone.ts (read); /w/new.ts (read); /w/seen.ts (changed)\nCommands: npm test → exit 2";
    const shown = [
      ...(turns[1]?.events ?? []),
      { type: "chat_request", id: "r", timestamp: "", content: "look at /w/seen.ts" } as const,
    ];
    expect(
      indexHidden({ turns: turns.slice(0, 1), shown, former })
        ?.text.split("\n")
        .slice(1),
    ).toEqual(["Files: /w/new.ts (changed); /w/gone.ts (read)", "Commands: npm test → exit 2"]);
  });

  it("lists a command once, with how it ended last", () => {
    const again = [
      call("Bash", { command: "npm test" }, "Exit code: 2"),
      call("Bash", { command: "npm test" }, "fine"),
    ];
    const lines = indexOf(callTurns([...again, call("Read", { file_path: "/w/old.ts" }, long(20_000))], []));
    expect(lines).toContain("Commands: npm test → ok");
  });

  it("keeps the end of a long path and what was done, also when it is taken over", () => {
    const folder = `/w/${"some-long-folder/".repeat(8)}`;
    const calls = ["a.ts", "b.ts"].map((name) => call("Read", { file_path: `${folder}${name}` }, long(20_000)));
    const turns = callTurns(calls, []);
    const list = (former = ""): string =>
      indexHidden({ turns: turns.slice(0, 1), shown: turns[1]?.events ?? [], former })?.text ?? "";
    const [, files = ""] = list().split("\n");
    expect(files).toMatch(/^Files: …\S+\/b\.ts \(read\); …\S+\/a\.ts \(read\)$/);
    for (const entry of files.slice("Files: ".length).split("; ")) expect(entry.length).toBeLessThanOrEqual(120);
    expect(list(list())).toBe(list());
  });

  it("does not list a long command that is in the view, either", () => {
    const command = `npm run check -- ${"--with something ".repeat(12)}`.trim();
    const hidden = [call("Bash", { command }, "ok"), call("Read", { file_path: "/w/old.ts" }, long(20_000))];
    expect(indexOf(callTurns(hidden, [])).join()).toContain("npm run check");
    expect(indexOf(callTurns(hidden, [call("Bash", { command }, "ok")])).join()).not.toContain("npm run check");
  });

  it("takes over whole commands that contain the separator of entries", () => {
    const hidden = callTurns([call("Bash", { command: "set -a; . ./env; npm test" }, long(20_000))], []);
    const shown = hidden[1]?.events ?? [];
    const first = indexHidden({ turns: hidden.slice(0, 1), shown });
    const line = first?.text.split("\n")[1] ?? "";
    expect(line).toBe("Commands: set -a;. ./env;npm test → ok");
    const read = callTurns([call("Read", { file_path: "/w/old.ts" }, long(20_000))], []);
    const next = (turns: readonly Turn[]): string =>
      indexHidden({ turns: turns.slice(0, 1), shown, former: first?.text ?? "" })?.text ?? "";
    expect(next(read)).toContain(line);
    expect(next(hidden).split("npm test")).toHaveLength(2);
  });

  it("is none where little is hidden, or nothing", () => {
    expect(indexOf(callTurns([call("Read", { file_path: "/w/old.ts" }, long(1000))], []))).toEqual([]);
    expect(indexOf(callTurns(worked, []), [])).toEqual([]);
  });

  it("is one line a list, whatever the commands and files are called", () => {
    const odd = call("Bash", { command: "echo '\u2028x'\nrm -rf" }, long(20_000));
    const lines = indexOf(callTurns([odd, call("Read", { file_path: "/w/a\nb.ts" }, "x")], []));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^(Files|Commands|Errors|SHAs|Names): /);
  });
});
