// What several strategies say together, with strategies made up for it: the strongest wins, and each is reported with what it added.

import { describe, expect, it } from "vitest";
import {
  type ComposeOptions,
  compareStrength,
  composeSteps,
  isGone,
  isSamePolicy,
  strongest,
} from "../../../../src/core/compact/strategies/encode-decisions.ts";
import type {
  CallDecision,
  HalfState,
  OpenEvent,
  StrategyContext,
  StrategyProgress,
  StrategyStep,
  StrategyUse,
  ViewedCall,
} from "../../../../src/core/compact/strategies/strategy.ts";
import type { CallPolicy } from "../../../../src/core/conversation/compaction.ts";
import type { Event } from "../../../../src/core/conversation/event.ts";
import { estimateEvent } from "../../../../src/core/conversation/token-estimate.ts";
import { USUAL_WINDOW } from "../../../../src/core/model/token-meter.ts";
import { createCalls } from "../../../helpers/tool-calls.ts";

const OPEN: HalfState = { now: undefined, isCovered: true, isOpen: true };
const [CALL] = createCalls([{ name: "Bash", args: { command: "x".repeat(270) }, result: "y".repeat(300) }]);
if (CALL?.response == null) throw new Error("one answered call was made");
const { request: REQUEST, response: RESPONSE } = CALL;

/** The call with its halves in these states; null = it has no result. */
function viewed(request: Partial<HalfState> = {}, response: Partial<HalfState> | null = {}): ViewedCall {
  const answered = response === null ? null : { ...OPEN, ...response };
  return {
    request: REQUEST,
    response: answered === null ? null : RESPONSE,
    turn: 0,
    index: 1,
    responseIndex: answered === null ? null : 2,
    requestState: { ...OPEN, ...request },
    responseState: answered,
    isTied: false,
  };
}

function contextOf(calls: readonly ViewedCall[], open: readonly OpenEvent[] = []): StrategyContext {
  const [subsumed, calledTools] = [new Map<string, string>(), new Set<string>()];
  return {
    calls,
    open,
    windowTokens: 200_000,
    newestFirst: () => open.toReversed(),
    hasOrphans: false,
    hintFor: () => ({}),
    subsumed,
    definedTools: [],
    toolTokens: new Map(),
    calledTools,
  };
}

/** A strategy that says this, whatever it sees. */
function saying(name: string, step: StrategyStep, isWanted?: (progress: StrategyProgress) => boolean): StrategyUse {
  const strategy = { name, summary: "says what a test wants", decide: () => step };
  return { strategy, options: {}, ...(isWanted && { isWanted }) };
}

const deciding = (name: string, decision: CallDecision): StrategyUse =>
  saying(name, { calls: new Map([[REQUEST.id, decision]]) });

function decided(call: ViewedCall, decisions: readonly CallDecision[], options: ComposeOptions = {}) {
  const uses = decisions.map((decision, at) => deciding(`s${at}`, decision));
  const composed = composeSteps(uses, contextOf([call]), options);
  return { decision: composed.decisions.get(REQUEST.id) ?? null, steps: composed.steps };
}

const truncate = (max_chars: number): CallPolicy => ({ truncate: { max_chars } });
const STRIP_BOTH: CallDecision = { request: "strip", response: "strip" };

describe("composeSteps decides about a call", () => {
  it.each<[string, ViewedCall, CallDecision, CallDecision | null]>([
    ["both halves that are open", viewed(), STRIP_BOTH, STRIP_BOTH],
    ["the half spoken of: the request", viewed(), { request: "strip" }, { request: "strip" }],
    ["the half spoken of: the result", viewed(), { response: "strip" }, { response: "strip" }],
    ["only the result where the request is closed", viewed({ isOpen: false }), STRIP_BOTH, { response: "strip" }],
    ["only the request where the result is closed", viewed({}, { isOpen: false }), STRIP_BOTH, { request: "strip" }],
    ["only the request where there is no result", viewed({}, null), STRIP_BOTH, { request: "strip" }],
    ["nothing where both are closed", viewed({ isOpen: false }, { isOpen: false }), STRIP_BOTH, null],
    ["only what takes more than is in force", viewed({ now: "strip" }), STRIP_BOTH, { response: "strip" }],
    ["nothing that is in force already", viewed({ now: "strip" }, { now: "strip" }), STRIP_BOTH, null],
    ["nothing that takes less", viewed({}, { now: truncate(50) }), { response: truncate(90) }, null],
    ["what takes more", viewed({}, { now: truncate(50) }), { response: truncate(10) }, { response: truncate(10) }],
    ["nothing where it is to be kept", viewed(), { request: "keep", response: "keep" }, null],
    ["nothing where nothing is said", viewed(), {}, null],
    ["the whole call where it is left out", viewed(), { request: "omit" }, { request: "omit", response: "omit" }],
  ])("%s", (_, call, said, decision) => {
    expect(decided(call, [said]).decision).toEqual(decision);
  });

  it("skips calls that it does not know", () => {
    const step: StrategyStep = { calls: new Map([["elsewhere", STRIP_BOTH]]) };
    expect(composeSteps([saying("s", step)], contextOf([viewed()]))).toEqual({
      decisions: new Map(),
      steps: [{ strategy: "s", events_removed: 0, estimated_tokens_saved: 0 }],
    });
  });
});

const whole = estimateEvent(REQUEST) + estimateEvent(RESPONSE);
const stubbed = (text: string): number => estimateEvent({ ...RESPONSE, content: text });

describe("composeSteps counts what a step takes of a call", () => {
  const saved = (call: ViewedCall, decisions: readonly CallDecision[], options?: ComposeOptions) =>
    decided(call, decisions, options).steps.map((step) => [step.events_removed, step.estimated_tokens_saved]);
  const omit: CallDecision = { request: "omit", response: "omit" };

  it("counts for each step what it added to those before it", () => {
    const left = estimateEvent({ ...REQUEST, arguments: {} });
    expect(saved(viewed(), [{ request: "strip" }, { request: "strip" }, omit])).toEqual([
      [0, estimateEvent(REQUEST) - left],
      [0, 0],
      [2, left + estimateEvent(RESPONSE)],
    ]);
  });

  it.each<[string, ViewedCall, readonly [number, number]]>([
    ["as it is shown", viewed(), [2, whole]],
    ["without a result", viewed({}, null), [1, estimateEvent(REQUEST)]],
    ["with a hidden result", viewed({}, { now: "hide", isOpen: false }), [1, estimateEvent(REQUEST)]],
    ["with a result left out", viewed({}, { now: "omit", isOpen: false }), [1, estimateEvent(REQUEST)]],
    [
      "with a stripped request",
      viewed({ now: "strip" }),
      [2, estimateEvent({ ...REQUEST, arguments: {} }) + estimateEvent(RESPONSE)],
    ],
  ])("leaves out a call %s", (_, call, taken) => {
    expect(saved(call, [omit])).toEqual([taken]);
  });

  it("counts stubs as the planned compaction writes them, and old ones as they were written", () => {
    const strip: CallDecision = { response: "strip" };
    const plain = estimateEvent(RESPONSE) - stubbed("[compacted] Bash: success");
    const [[, short] = []] = saved(viewed(), [strip]);
    const [[, long] = []] = saved(viewed(), [strip], { stubs: { first_line: true } });
    expect(short).toBe(plain);
    expect(long).toBeLessThan(plain);
    const [[, old] = []] = saved(viewed({}, { now: "strip", stubs: { first_line: true } }), [omit]);
    const [[, oldPlain] = []] = saved(viewed({}, { now: "strip" }), [omit], { stubs: { first_line: true } });
    expect(oldPlain).toBe(whole - plain);
    expect(old).toBe(whole - Number(long));
  });

  it("gives tokens by the factor, rounded", () => {
    expect(saved(viewed(), [{ request: "omit" }], { tokenFactor: 1.3 })).toEqual([[2, Math.round(whole * 1.3)]]);
  });
});

const at = { timestamp: "2026-01-01T00:00:00Z" };
const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
const ASKED: Event = { type: "chat_request", id: "q", ...at, content: [image, { type: "text", text: "z".repeat(40) }] };
const THOUGHT: Event = { type: "chat_response", id: "r", ...at, reasoning: "hm ".repeat(40) };
const SAID: Event = { type: "chat_response", id: "a", ...at, message: "yes ".repeat(20) };

describe("composeSteps counts what a step takes of other events", () => {
  const open: readonly OpenEvent[] = [
    ...[ASKED, THOUGHT, SAID].map((event): OpenEvent => ({ event, state: OPEN })),
    { event: RESPONSE, state: { ...OPEN, now: "strip" }, tool: "Bash" },
    { event: { ...RESPONSE, id: "seen", content: [image] }, state: OPEN, tool: "Bash" },
    { event: { ...RESPONSE, id: "orphan" }, state: { ...OPEN, now: "strip" } },
  ];
  const seen = estimateEvent({ ...RESPONSE, content: [image] });
  const pictured = estimateEvent(ASKED) - Math.ceil(("[compacted] image: image/png".length + 40) / 4);
  const all =
    estimateEvent(ASKED) +
    estimateEvent(THOUGHT) +
    estimateEvent(SAID) +
    stubbed("[compacted] Bash: success") +
    seen +
    stubbed("[compacted] unknown: success");

  it.each<[string, StrategyStep, number, number]>([
    ["reasoning", { reasoning: "strip" }, 1, estimateEvent(THOUGHT)],
    ["attachments", { attachments: "strip" }, 0, pictured],
    ["reasoning and attachments", { reasoning: "strip", attachments: "strip" }, 1, estimateEvent(THOUGHT) + pictured],
    ["everything", { turns: "omit" }, 6, all],
    ["everything, whatever else is said", { turns: "omit", reasoning: "strip", attachments: "strip" }, 6, all],
    ["definitions of tools, which are no events", { prune: ["Bash"] }, 0, 0],
  ])("%s, the first time it is said", (_, step, events_removed, estimated_tokens_saved) => {
    expect(composeSteps([saying("one", step), saying("two", step)], contextOf([], open))).toEqual({
      ...step,
      decisions: new Map(),
      steps: [
        { strategy: "one", events_removed, estimated_tokens_saved },
        { strategy: "two", events_removed: 0, estimated_tokens_saved: 0 },
      ],
    });
  });
});

describe("composeSteps with steps under a condition", () => {
  it("tells each what those before it have left, and skips the ones that are not wanted", () => {
    const asked: StrategyProgress[] = [];
    const wanted = (answer: boolean) => (progress: StrategyProgress) => {
      asked.push(progress);
      return answer;
    };
    const strip: StrategyStep = { reasoning: "strip" };
    const uses = [
      saying("no", { turns: "omit" }, wanted(false)),
      saying("yes", strip, wanted(true)),
      saying("after", {}, wanted(true)),
    ];
    const context = contextOf([], [{ event: THOUGHT, state: OPEN }]);
    const composed = composeSteps(uses, context, { viewTokens: 1000, tokenFactor: 1.5, windowTokens: 5000 });
    expect(composed).toEqual({
      reasoning: "strip",
      decisions: new Map(),
      steps: [
        { strategy: "yes", events_removed: 1, estimated_tokens_saved: 45 },
        { strategy: "after", events_removed: 0, estimated_tokens_saved: 0 },
      ],
    });
    expect(asked.map(({ viewTokens }) => viewTokens)).toEqual([1000, 1000, 955]);
    expect(new Set(asked.map(({ windowTokens }) => windowTokens))).toEqual(new Set([5000]));
  });

  it("assumes an empty view and the usual window by default", () => {
    const asked: StrategyProgress[] = [];
    composeSteps([saying("s", {}, (progress) => asked.push(progress) > 0)], contextOf([]));
    expect(asked).toEqual([{ viewTokens: 0, windowTokens: USUAL_WINDOW }]);
  });
});

/** From what takes least to what takes most. */
const LADDER: readonly (CallPolicy | "hide" | undefined)[] = [
  undefined,
  { truncate: { max_chars: 90 } },
  { truncate: { max_chars: 9 } },
  { drop: { max_chars: 90 } },
  { drop: { max_chars: 9 } },
  "strip",
  "omit",
  "hide",
];

describe("compareStrength", () => {
  it("orders policies by what they take, of two alike the one that leaves less", () => {
    for (const [i, a] of LADDER.entries()) {
      for (const [j, b] of LADDER.entries())
        expect(Math.sign(compareStrength(a, b)), `${i} ${j}`).toBe(Math.sign(i - j));
    }
  });

  it("takes keep for nothing, and the head of a text for as much as its tail", () => {
    expect(compareStrength("keep", undefined)).toBe(0);
    const [head, tail] = [1, 0].map((share) => ({ truncate: { max_chars: 9, head: share } }));
    expect(compareStrength(head, tail)).toBe(0);
  });
});

describe("isSamePolicy", () => {
  it("distinguishes all policies", () => {
    for (const [i, a] of LADDER.entries()) {
      for (const [j, b] of LADDER.entries()) expect(isSamePolicy(a, b), `${i} ${j}`).toBe(i === j);
    }
  });

  it("takes keep for nothing, and another head for another policy", () => {
    expect(isSamePolicy("keep", undefined)).toBe(true);
    const [head, tail] = [1, 0].map((share) => ({ truncate: { max_chars: 9, head: share } }));
    expect(isSamePolicy(head, tail)).toBe(false);
    expect(isSamePolicy(head, { truncate: { max_chars: 9, head: 1 } })).toBe(true);
  });
});

describe("isGone", () => {
  it("is true of what is hidden or left out, and of nothing else", () => {
    const gone = LADDER.filter((now) => isGone({ now }));
    expect(gone).toEqual(["omit", "hide"]);
  });
});

describe("strongest", () => {
  it("decides each half on its own", () => {
    const [much, little] = [{ truncate: { max_chars: 5 } }, { truncate: { max_chars: 50 } }];
    const mixed = { request: "strip", response: little } as const;
    expect(strongest(mixed, { response: much })).toEqual({ request: "strip", response: much });
    expect(strongest({ response: much }, mixed)).toEqual({ request: "strip", response: much });
    expect(strongest({}, {})).toEqual({});
    expect(strongest({ request: "keep" }, {})).toEqual({ request: "keep" });
  });

  it("leaves the whole call out when one half is", () => {
    const whole = { request: "omit", response: "omit" };
    expect(strongest({ request: "omit" }, { response: "strip" })).toEqual(whole);
    expect(strongest({ request: "strip" }, { response: "omit" })).toEqual(whole);
  });

  it("keeps the first of two that take as much", () => {
    const [head, tail] = [1, 0].map((share) => ({ response: { truncate: { max_chars: 9, head: share } } }));
    if (head === undefined || tail === undefined) throw new Error("two were made");
    expect(strongest(head, tail)).toEqual(head);
  });
});
