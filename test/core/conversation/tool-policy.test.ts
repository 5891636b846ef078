// What a compaction says about one half of a call, policy by policy.

import { describe, expect, it } from "vitest";
import type {
  CallPolicy,
  Compaction,
  SelectedCall,
  ToolCallPolicy,
} from "../../../src/core/conversation/compaction.ts";
import { describeHalves, resolveCallPolicy } from "../../../src/core/conversation/contents/tool-calls.ts";
import { createOverlays } from "../../../src/core/conversation/covered-range.ts";
import type { ToolCallRequest } from "../../../src/core/conversation/event.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";

const request: ToolCallRequest = {
  type: "tool_call_request",
  id: "c",
  timestamp: "2026-01-01T00:00:00Z",
  call_id: "1",
  name: "grep",
  arguments: {},
};

type Halves = readonly [CallPolicy | undefined, CallPolicy | undefined];

/** What is said about the call and about its result. */
function halves(fields: Partial<Compaction>, of: ToolCallRequest | undefined = request): Halves {
  const [overlay] = createOverlays(1, [makeCompaction("m", [0, 0], fields)]);
  if (overlay === undefined) throw new Error("the compaction covers the turn");
  return [resolveCallPolicy(overlay, "request", of), resolveCallPolicy(overlay, "response", of)];
}

function orphan(fields: Partial<Compaction>): CallPolicy | undefined {
  const [overlay] = createOverlays(1, [makeCompaction("m", [0, 0], fields)]);
  return overlay === undefined ? undefined : resolveCallPolicy(overlay, "response", undefined);
}

const selective = (call: Omit<SelectedCall, "event">, rest: object = {}): Partial<Compaction> => ({
  tool_calls: { policy: "selective", calls: [{ event: "c", ...call }], ...rest },
});

describe("resolveCallPolicy", () => {
  it("has no opinion where the compaction speaks of no calls, whatever its hints", () => {
    expect(halves({})).toEqual([undefined, undefined]);
    expect(halves({ tool_overrides: { grep: { response: "strip" } } })).toEqual([undefined, undefined]);
  });

  const truncate = { policy: "truncate", max_chars: 5, head: 1 } as const;
  it.each<[string, ToolCallPolicy, Halves]>([
    ["strip, both halves", { policy: "strip", request: true, response: true }, ["strip", "strip"]],
    ["strip, requests", { policy: "strip", request: true, response: false }, ["strip", "keep"]],
    ["strip, responses", { policy: "strip", request: false, response: true }, ["keep", "strip"]],
    ["omit", { policy: "omit" }, ["omit", "omit"]],
    ["truncate", truncate, ["keep", { truncate }]],
  ])("says for %s what it says for all calls", (_name, tool_calls, expected) => {
    expect(halves({ tool_calls })).toEqual(expected);
    expect(orphan({ tool_calls })).toEqual(expected[1]);
  });

  it("lets a hint decide the half of which it speaks, except where calls are omitted", () => {
    const strip = { policy: "strip", request: true, response: true } as const;
    expect(halves({ tool_calls: strip, tool_overrides: { grep: { request: "keep" } } })).toEqual(["keep", "strip"]);
    expect(halves({ tool_calls: truncate, tool_overrides: { grep: { response: "strip" } } })).toEqual([
      "keep",
      "strip",
    ]);
    const all = { "*": { request: "keep", response: "keep" }, read: { request: "strip" } } as const;
    expect(halves({ tool_calls: strip, tool_overrides: all })).toEqual(["keep", "keep"]);
    expect(halves({ tool_calls: { policy: "omit" }, tool_overrides: all })).toEqual(["omit", "omit"]);
    expect(orphan({ tool_calls: strip, tool_overrides: all })).toBe("keep");
    expect(orphan({ tool_calls: strip, tool_overrides: { grep: { response: "keep" } } })).toBe("strip");
  });

  it("has no hint for a tool named like something that every object has", () => {
    const strip = { policy: "strip", request: true, response: true } as const;
    const inherited = { ...request, name: "constructor" };
    const hints = { "*": { response: "keep" } } as const;
    expect(halves({ tool_calls: strip, tool_overrides: hints }, inherited)).toEqual(["strip", "keep"]);
  });

  it("says of a named call what it is named with, hints or not", () => {
    const hints = { tool_overrides: { grep: { request: "strip", response: "keep" } } } as const;
    expect(halves({ ...selective({ response: "strip" }), ...hints })).toEqual([undefined, "strip"]);
    expect(halves({ ...selective({ request: "keep" }, { else: { policy: "omit" } }), ...hints })).toEqual([
      "keep",
      undefined,
    ]);
  });

  it("omits both halves where either is named so", () => {
    expect(halves(selective({ request: "omit" }))).toEqual(["omit", "omit"]);
    expect(halves(selective({ request: "keep", response: "omit" }))).toEqual(["omit", "omit"]);
  });

  it("says of a call that is not named, and of a result without one, what `else` says", () => {
    const other = { ...request, id: "other" };
    const rest = { else: { policy: "strip", request: false, response: true } } as const;
    expect(halves(selective({ response: "omit" }), other)).toEqual([undefined, undefined]);
    expect(halves(selective({ response: "omit" }, rest), other)).toEqual(["keep", "strip"]);
    expect(orphan(selective({ response: "omit" }, rest))).toBe("strip");
    expect(orphan(selective({ response: "omit" }))).toBeUndefined();
    const hints = { tool_overrides: { grep: { response: "keep" } } } as const;
    expect(halves({ ...selective({ response: "omit" }, rest), ...hints }, other)).toEqual(["keep", "keep"]);
  });
});

describe("describeHalves", () => {
  it("describes the halves that have a policy", () => {
    expect(describeHalves({ request: undefined, response: "strip" })).toBe("response strip");
    expect(describeHalves({ request: "keep", response: { truncate: { max_chars: 9, head: undefined } } })).toBe(
      'request keep, response {"truncate":{"max_chars":9}}',
    );
  });
});
