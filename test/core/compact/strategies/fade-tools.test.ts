// fade-tools: what stays of a call by its age, by what later calls do with its file, and by hints.

import { describe, expect, it } from "vitest";
import type { ToolCompactionHints } from "../../../../src/core/compact/tool-hints.ts";
import { projectTurns } from "../../../../src/core/conversation/projection.ts";
import { estimateEvents } from "../../../../src/core/conversation/token-estimate.ts";
import {
  type AskOptions,
  askStrategies,
  type CallSpec,
  call,
  callTurns,
  failed,
  fates,
  planStrategiesFor,
  storedOf,
} from "../../../helpers/call-conversation.ts";

/** A window of which 1,000 tokens stay whole, and 1,000 before them are shortened. */
const windowTokens = 10_000;
/** Output of about 900 tokens: with the call after it, those before it are no longer new. */
const LONG = "line of output\n".repeat(180);
const fill = call("Bash", { command: "make" }, LONG);
const read = (file_path: string, range = {}) => call("Read", { file_path, ...range }, LONG);
const edit = (file_path: string) => call("Edit", { file_path, old_string: "a".repeat(300), new_string: "b" }, "edited");
const write = (file_path: string) => call("Write", { file_path, content: LONG }, "written");

function fade(calls: readonly CallSpec[], { known, ...more }: AskOptions = {}): Record<string, string> {
  const turns = callTurns(calls);
  const plan = askStrategies(turns, ["fade-tools"], { known: { windowTokens, ...known }, ...more });
  return "nothing" in plan ? {} : fates(turns, [storedOf(plan)]);
}

describe("fade-tools", () => {
  it("leaves the newest calls whole, shortens those before them and leaves older ones out", () => {
    const calls = [read("a"), read("b"), fill, call("Bash", { command: "ls" }, "a b")];
    expect(fade(calls)).toEqual({ "c0.0": "omitted", "c0.1": "kept cut" });
    expect(fade([fill, call("Bash", { command: "ls" }, "a b")])).toEqual({});
  });

  it("counts the tokens of everything after a call, and takes at most a tenth of the window", () => {
    const turns = [...callTurns([read("a")]), ...callTurns([]).map((turn) => ({ ...turn, index: 1 }))];
    const said = { type: "chat_response", id: "said", timestamp: "", message: "word ".repeat(2400) } as const;
    const last = { index: 1, events: [...(turns[1]?.events ?? []), said] };
    const all = [turns[0] as (typeof turns)[number], last];
    const ask = (tokens: number) => {
      const plan = askStrategies(all, ["fade-tools"], { known: { windowTokens: tokens } });
      return "nothing" in plan ? {} : fates(all, [storedOf(plan)]);
    };
    expect(ask(10_000)).toEqual({ "c0.0": "omitted" });
    expect(ask(30_000)).toEqual({ "c0.0": "kept cut" });
    expect(ask(200_000)).toEqual({});
  });

  it("leaves 18,000 tokens whole of a large window", () => {
    const calls = Array.from({ length: 60 }, (_, at) => read(`f${at}`));
    const plan = planStrategiesFor(callTurns(calls), ["fade-tools"], { known: { windowTokens: 1_000_000 } });
    const turns = callTurns(calls);
    const view = projectTurns(turns, [storedOf(plan)]).turns.flatMap(({ events }) => events);
    const raw = new Set(turns.flatMap(({ events }) => events));
    const whole = estimateEvents(view.filter((event) => raw.has(event)));
    expect(whole).toBeGreaterThan(17_000);
    expect(whole).toBeLessThan(18_300);
  });

  it("never touches results that the model has not answered", () => {
    const [turn] = callTurns([read("a"), read("b"), read("c")]);
    const open = [{ index: 0, events: (turn?.events ?? []).slice(0, -1) }];
    const plan = planStrategiesFor(open, ["fade-tools"], {
      known: { windowTokens: 100 },
      request: { intoLoop: true, range: { keep: 0 } },
    });
    expect(fates(open, [storedOf(plan)])).toEqual({ "c0.0": "omitted", "c0.1": "omitted" });
  });

  it("keeps the last change of a file, and of earlier ones nothing", () => {
    expect(fade([edit("a"), edit("a"), fill])).toEqual({ "c0.0": "omitted" });
    expect(fade([edit("a"), edit("b"), fill])).toEqual({});
    expect(fade([edit("a"), read("a"), fill])["c0.0"]).toBe("cut stripped");
  });

  it("leaves an earlier read out when the file is read again, but not for one that shows nothing", () => {
    const unchanged = call("Read", { file_path: "a" }, "File unchanged since last read.");
    const short = (lines: object) => call("Read", { file_path: "a", ...lines }, "text\n".repeat(60));
    expect(fade([short({ offset: 1, limit: 60 }), short({ offset: 90, limit: 60 }), fill])).toEqual({
      "c0.0": "omitted",
    });
    expect(fade([short({}), unchanged, fill])).toEqual({});
  });

  it("keeps of old calls the last that names each file which was changed, without what was written", () => {
    const calls = [edit("a"), edit("a"), write("b"), failed("Edit", { file_path: "c" }), read("d"), fill, fill];
    expect(fade([...calls, fill])).toEqual({
      "c0.0": "omitted",
      "c0.1": "cut stripped",
      "c0.2": "cut stripped",
      "c0.3": "kept stripped",
      "c0.4": "omitted",
      "c0.5": "omitted",
      "c0.6": "kept cut",
    });
  });

  it("keeps a patch up to the last file that it names", () => {
    const patch = `*** Begin Patch\n*** Update File: src/a.ts\n@@\n-old\n+${"new ".repeat(300)}\n*** End Patch`;
    const turns = callTurns([call("apply_patch", { input: patch }, "Done!"), fill, fill, fill]);
    const plan = planStrategiesFor(turns, ["fade-tools"], { known: { windowTokens } });
    const shown = projectTurns(turns, [storedOf(plan)]).turns.flatMap(({ events }) => events);
    const { input } = (shown.find(({ id }) => id === "c0.0") as { arguments: { input: string } }).arguments;
    expect(input).toMatch(/^\*\*\* Begin Patch\n\*\*\* Update File: src\/a\.ts\n\[compacted: /);
  });

  it("does what hints say: keeps results at any age, strips or removes them, keeps arguments", () => {
    const hints: ToolCompactionHints = {
      Report: { response: "keep" },
      Ask: { request: "keep", response: "keep" },
      Poll: { response: "remove" },
      Grep: { response: "strip" },
    };
    const of = (name: string) => call(name, { text: "t".repeat(300) }, LONG);
    expect(fade([of("Report"), of("Ask"), fill, fill, fill], { known: { hints } })).toEqual({
      "c0.0": "stripped kept",
      "c0.2": "omitted",
      "c0.3": "kept cut",
    });
    expect(fade([of("Poll"), of("Grep"), fill], { known: { hints } })).toEqual({
      "c0.0": "omitted",
      "c0.1": "stripped stripped",
    });
  });

  it("shortens what stays where one half of an old call is pinned", () => {
    const calls = [read("a"), fill, fill, fill];
    const kept = { known: { windowTokens }, request: { keep: ["r0.0"] } };
    expect(fade(calls, kept)["c0.0"]).toBeUndefined();
    expect(fade(calls, { ...kept, request: { keep: ["c0.0"] } })["c0.0"]).toBe("kept stripped");
  });
});
