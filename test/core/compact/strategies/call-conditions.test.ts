// What strategies ask of a call, and how decisions about calls are written down, on calls whose halves are in a known state.

import { describe, expect, it } from "vitest";
import {
  canOmit,
  decideEach,
  dropBodies,
  forResponse,
  hasSucceeded,
  isWhollyShown,
} from "../../../../src/core/compact/strategies/call-conditions.ts";
import { encodeDecisions } from "../../../../src/core/compact/strategies/encode-decisions.ts";
import type {
  CallDecision,
  HalfState,
  StrategyContext,
  ViewedCall,
} from "../../../../src/core/compact/strategies/strategy.ts";
import type { ToolCompactionHint } from "../../../../src/core/compact/tool-hints.ts";
import type { StubStyle } from "../../../../src/core/conversation/compaction.ts";
import { createCalls } from "../../../helpers/tool-calls.ts";

const OPEN: HalfState = { now: undefined, isCovered: true, isOpen: true };
const CLOSED: HalfState = { now: undefined, isCovered: false, isOpen: false };
const now = (policy: HalfState["now"], more: Partial<HalfState> = {}): HalfState => ({ ...OPEN, now: policy, ...more });
const GONE = now("hide", { isOpen: false });

/** Calls of these tools, all open, then changed. */
function viewed(names: readonly string[], changes: Partial<ViewedCall> = {}): ViewedCall[] {
  const calls = createCalls(names.map((name) => ({ name, args: { path: "a", text: "x".repeat(50) } })));
  return calls.map((call) => ({ ...call, requestState: OPEN, responseState: OPEN, isTied: false, ...changes }));
}

const one = (changes: Partial<ViewedCall> = {}): ViewedCall => viewed(["Bash"], changes)[0] as ViewedCall;
const unanswered = one({ response: null, responseIndex: null, responseState: null });
const failing = createCalls([{ name: "Bash", args: {}, failed: true }])[0];

describe("what is asked of a call", () => {
  it.each<[string, ViewedCall, readonly [omit: boolean, succeeded: boolean, whole: boolean]]>([
    ["a call that is shown", one(), [true, true, true]],
    ["a call without a result", unanswered, [true, false, false]],
    ["a call behind reasoning that is kept", one({ isTied: true }), [false, true, true]],
    ["a closed call without a result", { ...unanswered, requestState: CLOSED }, [false, false, false]],
    ["a failed call", one({ response: failing?.response ?? null }), [true, false, false]],
    ["a closed request", one({ requestState: CLOSED }), [false, true, true]],
    ["a closed result", one({ responseState: CLOSED }), [false, true, true]],
    ["a hidden request", one({ requestState: GONE }), [false, false, false]],
    ["a hidden result", one({ responseState: GONE }), [false, false, false]],
    ["a stripped request", one({ requestState: now("strip") }), [true, true, false]],
    ["a stripped result", one({ responseState: now("strip") }), [true, true, false]],
  ])("of %s: whether it may be left out, has succeeded, is wholly shown", (_, call, answers) => {
    expect([canOmit(call), hasSucceeded(call), isWhollyShown(call)]).toEqual(answers);
  });

  it("gives a policy for the result only where one may be spoken of", () => {
    expect(forResponse(one(), "strip")).toEqual({ response: "strip" });
    expect(forResponse(one({ responseState: CLOSED }), "strip")).toEqual({});
    expect(forResponse(unanswered, "strip")).toEqual({});
  });

  it.each<[string, ViewedCall, number, string | undefined, CallDecision]>([
    ["longer texts", one(), 49, "a", { request: { drop: { max_chars: 49 } } }],
    ["none where all are short", one(), 50, "a", {}],
    ["none of a closed request", one({ requestState: CLOSED }), 49, "a", {}],
    ["what is longer than the path", one(), 10, "x".repeat(20), { request: { drop: { max_chars: 20 } } }],
    ["texts where there is no path", one(), 10, undefined, { request: { drop: { max_chars: 10 } } }],
  ])("drops of the arguments %s", (_, call, maxChars, path, decision) => {
    expect(dropBodies(call, maxChars, path)).toEqual(decision);
  });

  it("collects the decisions that say something", () => {
    const calls = viewed(["a", "b", "c", "d"]);
    const said: Record<string, CallDecision> = { a: { request: "strip" }, b: {}, c: { response: "strip" } };
    expect([...decideEach(calls, ({ request }) => said[request.name] ?? {})]).toEqual([
      ["c0", { request: "strip" }],
      ["c2", { response: "strip" }],
    ]);
  });
});

function contextOf(calls: readonly ViewedCall[], more: Partial<StrategyContext> = {}): StrategyContext {
  const [subsumed, calledTools] = [new Map<string, string>(), new Set<string>()];
  return {
    calls,
    open: [],
    windowTokens: 200_000,
    newestFirst: () => [],
    hasOrphans: false,
    hintFor: () => ({}),
    subsumed,
    definedTools: [],
    toolTokens: new Map(),
    calledTools,
    ...more,
  };
}

const hints = (table: Readonly<Record<string, ToolCompactionHint>>): Partial<StrategyContext> => ({
  hintFor: (tool) => table[tool] ?? {},
});

const STRIP: CallDecision = { request: "strip", response: "strip" };
const OMIT: CallDecision = { request: "omit", response: "omit" };
const ANSWER: CallDecision = { response: "strip" };
const ASK: CallDecision = { request: "strip" };
const cut = (max_chars: number): CallDecision => ({ response: { truncate: { max_chars } } });
const all = (request: boolean, response: boolean) => ({ policy: "strip", request, response });

describe("encodeDecisions", () => {
  const encode = (
    decisions: readonly (CallDecision | null)[],
    { calls = viewed(decisions.map(() => "Bash")), more = {}, stubs }: EncodeOptions = {},
  ) => {
    const entries = decisions.flatMap((decision, at): [string, CallDecision][] =>
      decision === null ? [] : [[`c${at}`, decision]],
    );
    return encodeDecisions(new Map(entries), contextOf(calls, more), stubs);
  };
  interface EncodeOptions {
    readonly calls?: readonly ViewedCall[];
    readonly more?: Partial<StrategyContext>;
    readonly stubs?: StubStyle;
  }
  const named = (...calls: readonly object[]) => ({ tool_calls: { policy: "selective", calls } });

  it.each<[string, (CallDecision | null)[], object]>([
    ["nothing as nothing", [null, null], {}],
    ["all stripped", [STRIP, STRIP], { tool_calls: all(true, true) }],
    ["all results stripped", [ANSWER, ANSWER], { tool_calls: all(false, true) }],
    ["all requests stripped", [ASK, ASK], { tool_calls: all(true, false) }],
    ["all left out", [OMIT, OMIT], { tool_calls: { policy: "omit" } }],
    ["all truncated", [cut(9), cut(9)], { tool_calls: { policy: "truncate", max_chars: 9 } }],
    ["one of many by name", [STRIP, null, null], named({ event: "c0", ...STRIP })],
    ["one of two by name, when the rest is as many", [STRIP, null], named({ event: "c0", ...STRIP })],
    [
      "dropped texts by name",
      [{ request: { drop: { max_chars: 9 } } }, null],
      named({ event: "c0", request: { drop: { max_chars: 9 } } }),
    ],
    [
      "most in one way, the others by name",
      [STRIP, STRIP, OMIT],
      { tool_calls: { policy: "selective", calls: [{ event: "c2", ...OMIT }], else: all(true, true) } },
    ],
    [
      "most in one way, one untouched",
      [ANSWER, ANSWER, null],
      { tool_calls: { policy: "selective", calls: [{ event: "c2" }], else: all(false, true) } },
    ],
    [
      "the limit that most have",
      [cut(9), cut(5), cut(5)],
      {
        tool_calls: {
          policy: "selective",
          calls: [{ event: "c0", ...cut(9) }],
          else: { policy: "truncate", max_chars: 5 },
        },
      },
    ],
  ])("writes %s", (_, decisions, encoded) => {
    expect(encode(decisions)).toEqual(encoded);
  });

  it("names calls where a result without a call would be changed too", () => {
    expect(encode([STRIP, STRIP], { more: { hasOrphans: true } })).toEqual(
      named({ event: "c0", ...STRIP }, { event: "c1", ...STRIP }),
    );
  });

  it.each<[string, CallDecision, Partial<ToolCompactionHint>, CallDecision, object]>([
    ["the half that a hint keeps", STRIP, { request: "keep" }, ANSWER, { request: "keep" }],
    ["both halves", STRIP, { request: "keep", response: "keep" }, {}, { request: "keep", response: "keep" }],
    ["a result where results are stripped", ANSWER, { request: "keep", response: "keep" }, {}, { response: "keep" }],
    ["a request where requests are stripped", ASK, { request: "keep", response: "keep" }, {}, { request: "keep" }],
    ["a result where results are truncated", cut(9), { request: "keep", response: "keep" }, {}, { response: "keep" }],
  ])("freezes %s", (_, decision, hint, kept, frozen) => {
    const calls = viewed(["Bash", "Bash", "Read"]);
    const decisions = [decision, decision, Object.keys(kept).length === 0 ? null : kept];
    const encoded = encode(decisions, { calls, more: hints({ Read: hint, Unused: hint }) });
    expect(encoded.tool_overrides).toEqual({ Read: frozen });
    expect(encoded.tool_calls).not.toHaveProperty("calls");
  });

  it("freezes hints by name in order, none of tools outside the range, and none for calls that are left out", () => {
    const keep: ToolCompactionHint = { response: "keep" };
    const [z, a, bash] = viewed(["z", "a", "Bash"]) as [ViewedCall, ViewedCall, ViewedCall];
    const more = hints({ a: keep, z: keep, far: keep });
    const far = viewed(["far"], { requestState: CLOSED, responseState: CLOSED }).map((call) => ({
      ...call,
      request: { ...call.request, id: "far" },
    }));
    const encoded = encode([null, null, ANSWER, null], { calls: [z, a, bash, ...far], more });
    expect(encoded).toEqual({ tool_calls: all(false, true), tool_overrides: { a: keep, z: keep } });
    expect(Object.keys(encoded.tool_overrides ?? {})).toEqual(["a", "z"]);
    expect(encode([OMIT, OMIT], { more: hints({ Bash: keep }) })).toEqual({ tool_calls: { policy: "omit" } });
  });

  it.each<[string, Partial<ViewedCall>, StubStyle | undefined, boolean]>([
    ["calls outside the range", { requestState: CLOSED, responseState: CLOSED }, undefined, true],
    ["hidden calls", { requestState: GONE, responseState: GONE }, undefined, true],
    ["calls without a result", { requestState: CLOSED, response: null, responseState: null }, undefined, true],
    ["results stripped before", { responseState: now("strip") }, undefined, true],
    ["results stripped before in another style", { responseState: now("strip") }, { first_line: true }, false],
    [
      "results stripped before with pointers",
      { responseState: now("strip", { stubs: { pointers: true } }) },
      undefined,
      false,
    ],
    [
      "results stripped before in the same style",
      { responseState: now("strip", { stubs: { first_line: true } }) },
      { first_line: true },
      true,
    ],
    [
      "results stripped before with heads",
      { responseState: now("strip", { stubs: { heads: true } }) },
      undefined,
      false,
    ],
    ["results truncated before", { responseState: now({ truncate: { max_chars: 5 } }) }, undefined, false],
    ["results that are shown", {}, undefined, false],
    ["requests stripped before", { requestState: now("strip"), responseState: now("strip") }, undefined, false],
  ])("says it once for all calls beside %s only where that changes none of them", (_, changes, stubs, isUniform) => {
    const [first, second] = viewed(["Bash", "Bash"]) as [ViewedCall, ViewedCall];
    const third = { ...second, request: { ...second.request, id: "c2" }, ...changes };
    const encoded = encode([ANSWER, ANSWER, null], { calls: [first, second, third], ...(stubs && { stubs }) });
    expect(encoded).toEqual(
      isUniform
        ? { tool_calls: all(false, true) }
        : { tool_calls: { policy: "selective", calls: [{ event: "c2" }], else: all(false, true) } },
    );
  });
});
