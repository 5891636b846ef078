// Lines through lists of requests made up for it, small enough to work out by hand.

import { describe, expect, it } from "vitest";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import {
  type Calibration,
  type FittedLine,
  fitLine,
  type RecordedRequest,
  type RequestSize,
} from "../../../src/core/model/calibration.ts";
import { listRequestSizes } from "../../helpers/request-sizes.ts";

const request = (estimate: number, size: number, more: Partial<RequestSize> = {}): RequestSize => ({
  estimate,
  size,
  model: "m",
  isUnbroken: true,
  stretch: 0,
  ...more,
});

/** Requests whose estimates rise by `step`, their sizes by `slope` times that, from an overhead on. */
function line(slope: number, { count = 5, step = 50, overhead = 1000, more = {} }: LineOptions = {}): RequestSize[] {
  return Array.from({ length: count }, (_, at) => request(step * at, overhead + slope * step * at, more));
}

interface LineOptions {
  readonly count?: number;
  readonly step?: number;
  readonly overhead?: number;
  readonly more?: Partial<RequestSize>;
}

/** Requests as records, one a turn; the newest says what its answer came to. */
function lineOf(
  requests: readonly RequestSize[],
  { tokenizer = 1, definedFrom = 0, answer = 0 }: { tokenizer?: number; definedFrom?: number; answer?: number } = {},
): FittedLine {
  const records = requests.map(
    ({ estimate, size }, turn): RecordedRequest => ({
      message: null,
      usage: { input: size, cacheRead: 0, cacheWrite: 0, output: answer },
      before: estimate,
      through: estimate + answer,
      time: "",
      at: turn,
      turn,
    }),
  );
  return fitLine({ records, requests, tokenizer, definedFrom });
}

const calibrateOn = (requests: readonly RequestSize[]): Calibration | null => lineOf(requests).calibration;

describe("fitLine", () => {
  it("passes through the first request and the last one of an unbroken context, whatever lies between and after", () => {
    const requests = [
      request(0, 40_000),
      request(30_000, 90_000),
      request(60_000, 106_000),
      request(80_000, 70_000, { isUnbroken: false, stretch: 1 }),
      request(90_000, 95_000, { isUnbroken: false, stretch: 1 }),
    ];
    expect(lineOf(requests)).toMatchObject({ factor: 1.1, overhead: 40_000, isExact: false });
    expect(lineOf(requests.slice(0, 3))).toMatchObject({ factor: 1.1, overhead: 40_000, isExact: true });
  });

  it("passes through the end of the newest answer where that is known", () => {
    const { factor, overhead } = lineOf([request(0, 20_000), request(9000, 33_500)], { answer: 1000 });
    expect({ factor, overhead }).toEqual({ factor: 1.45, overhead: 20_000 });
  });

  it("takes the tokenizer's factor, or that of all stretches, where the two are too close", () => {
    expect(lineOf([request(0, 20_000), request(999, 20_600)], { tokenizer: 1.5 })).toMatchObject({
      factor: 1.5,
      overhead: 20_600 - 1.5 * 999,
      isExact: true,
    });
    expect(lineOf([request(0, 20_000), request(1000, 20_800)], { tokenizer: 1.5 })).toMatchObject({
      factor: 0.8,
      overhead: 20_000,
    });
  });

  it("leaves out requests whose size is not of these events", () => {
    const requests = [request(0, 20_000), request(50_000, 70_000), request(60_000, 300_000)];
    expect(lineOf(requests)).toMatchObject({ factor: 1, overhead: 20_000, isExact: false });
    expect(lineOf([request(0, 250_000), request(50_000, 300_000)])).toMatchObject({ factor: 1, overhead: null });
    expect(lineOf([request(1000, 12)])).toMatchObject({ factor: 1, overhead: null, first: null });
  });

  it("takes the first request since the tools were defined anew, where one was sent whole", () => {
    const requests = [request(0, 20_000), request(10_000, 45_000), request(60_000, 105_000)];
    expect(lineOf(requests, { definedFrom: 1 })).toMatchObject({ factor: 1.2, overhead: 33_000, first: { turn: 1 } });
    expect(lineOf(requests, { definedFrom: 3 })).toMatchObject({ overhead: 20_000, first: { turn: 0 } });
  });

  it("takes the factor of the model that answers now, and the overhead of whichever was sent the whole context", () => {
    const requests = [
      request(0, 20_000, { model: "old" }),
      request(50_000, 70_000, { model: "old" }),
      request(90_000, 40_000, { model: "new", isUnbroken: false, stretch: 1 }),
    ];
    expect(lineOf(requests, { tokenizer: 1.5 })).toMatchObject({ factor: 1.5, overhead: 20_000, isExact: false });
  });
  it("gives the line that requests lie on", () => {
    expect(calibrateOn(line(2))).toEqual({ factor: 2, overhead: 1000, records: 5, medianError: 0 });
  });

  it.each<[string, RequestSize[]]>([
    ["four requests", line(2, { count: 4, step: 500 })],
    ["requests that grow by less than 100", line(2, { step: 49 })],
    ["sizes that hardly grow", line(0.24)],
    ["sizes that grow far too fast", line(4.01)],
    ["sizes that fall", line(-1)],
    ["nothing", []],
    [
      "four requests of one model and four of another",
      [...line(2, { count: 4 }), ...line(2, { count: 4, more: { model: "n" } })],
    ],
  ])("tells nothing from %s", (_, requests) => {
    expect(calibrateOn(requests)).toBeNull();
  });

  it.each([
    [0.25, 0.5],
    [0.5, 0.5],
    [1, 1],
    [2.5, 2.5],
    [3, 2.5],
    [4, 2.5],
  ])("makes of a slope of %d a factor of %d", (slope, factor) => {
    expect(calibrateOn(line(slope))?.factor).toBe(factor);
  });

  it.each([
    [0, 0],
    [99_999, 99_999],
    [100_000, 100_000],
    [100_001, null],
    [-10, 0],
  ])("makes of %d tokens beside the events an overhead of %s", (beside, overhead) => {
    expect(calibrateOn(line(1, { overhead: beside }))?.overhead).toBe(overhead);
  });

  it("knows no overhead of a context that was never sent whole", () => {
    const broken = line(1, { overhead: 5000, more: { isUnbroken: false, stretch: 1 } });
    expect(calibrateOn([...line(1), ...broken])).toMatchObject({ overhead: 1000, records: 10 });
    expect(calibrateOn(broken)).toMatchObject({ factor: 1, overhead: null });
  });

  it("compares requests of one stretch only", () => {
    const apart = line(2, { count: 6 }).map((one, stretch) => ({ ...one, stretch }));
    expect(calibrateOn(apart)).toBeNull();
  });

  it.each<[string, readonly (readonly [slope: number, weight: number])[], number]>([
    [
      "the middle one",
      [
        [1, 100],
        [2, 100],
        [1.5, 100],
      ],
      1.5,
    ],
    [
      "the one that has the most to say",
      [
        [1, 100],
        [2, 300],
        [1.5, 100],
      ],
      2,
    ],
    [
      "the lower one of two",
      [
        [2, 100],
        [1, 100],
        [1.5, 0],
      ],
      1,
    ],
  ])("takes of several slopes %s", (_, slopes, factor) => {
    const requests = slopes.flatMap(([slope, weight], stretch) => [
      request(1000, 5000, { stretch }),
      request(1000 + weight, 5000 + slope * weight, { stretch }),
    ]);
    expect(calibrateOn(requests)?.factor).toBe(factor);
  });

  it("compares each request with the one half a stretch later", () => {
    // Steps of 60: only pairs two apart are far enough from each other. The last size is odd.
    const requests = line(1, { step: 60, count: 5 }).with(4, request(240, 1000 + 1.5 * 240));
    expect(calibrateOn(requests)).toMatchObject({ factor: 1, records: 5 });
    const pair = [0, 1, 2].flatMap((stretch) => line(1, { count: 2, step: 100, more: { stretch } }));
    expect(calibrateOn(pair)).toMatchObject({ factor: 1, records: 6 });
  });

  it("gives the middle error as a share of the size, within each stretch", () => {
    // Beside 1.125 times the estimate lie 1000, 1175, 850, 1525 and 1000 tokens.
    const beside = [0, 300, 100, 900, 500];
    const requests = line(1, { step: 1000 }).map((one, at) => ({ ...one, size: one.size + (beside[at] ?? 0) }));
    const found = calibrateOn(requests);
    expect(found).toMatchObject({ factor: 1.125, overhead: 1000 });
    expect(found?.medianError).toBeCloseTo(150 / 3100, 10);
    const shifted = [...line(1), ...line(1, { overhead: 9000, more: { stretch: 1 } })];
    expect(calibrateOn(shifted)?.medianError).toBe(0);
  });

  it("takes the newest model with five requests, in the order they were sent", () => {
    const [old, newest] = [line(2, { more: { model: "old" } }), line(1, { more: { model: "new", stretch: 1 } })];
    expect(calibrateOn([...old, ...newest])).toMatchObject({ factor: 1, records: 5 });
    expect(calibrateOn([...newest, ...old])).toMatchObject({ factor: 2, records: 5 });
    expect(calibrateOn([...old, ...newest.slice(1)])).toMatchObject({ factor: 2, records: 5 });
  });

  it("looks at a thousand requests at most, spread evenly", () => {
    const doubled = (count: number) =>
      line(1, { count, more: { isUnbroken: false } }).flatMap((one) => [one, { ...one, size: one.size + 9000 }]);
    expect(calibrateOn(line(1, { count: 1000 }))?.records).toBe(1000);
    // Every other request is odd; of twice as many as are looked at, those are passed over.
    expect(calibrateOn(doubled(1000))).toEqual({ factor: 1, overhead: null, records: 1000, medianError: 0 });
  });
});

const at = { timestamp: "2026-01-01T00:00:00Z" };
const ask = (id: string): Event => ({ type: "chat_request", id, ...at, content: "word".repeat(10) });
const answer = (id: string, input_tokens: number, model?: string): Event => ({
  type: "chat_response",
  id,
  ...at,
  message: "word",
  metadata: { message_id: id, usage: { input_tokens }, ...(model !== undefined && { model }) },
});
const turn = (index: number, ...events: readonly Event[]): Turn => ({ index, events });

describe("listRequestSizes", () => {
  const size = (estimate: number, tokens: number, stretch = 0, isUnbroken = true, model = ""): RequestSize => ({
    estimate,
    size: tokens,
    model,
    isUnbroken,
    stretch,
  });

  it("gives each request its size and the estimate of what precedes its answer, oldest first", () => {
    const turns = [turn(1, ask("q1"), answer("a1", 200)), turn(0, ask("q0"), answer("a0", 100))];
    expect(listRequestSizes(turns)).toEqual([size(10, 100), size(21, 200)]);
  });

  it("takes a context that falls by more than a tenth for compacted, from there on", () => {
    const turns = [1000, 900, 809, 2000].map((tokens, index) => turn(index, answer(`a${index}`, tokens)));
    expect(listRequestSizes(turns)).toEqual([
      size(0, 1000),
      size(1, 900),
      size(2, 809, 1, false),
      size(3, 2000, 1, false),
    ]);
  });

  it("begins a stretch with each other model, whatever the date in its name", () => {
    const models = ["claude-opus-4-5", "claude-opus-4-5-20251101", "claude-haiku-4-5", "claude-haiku-4-5"];
    const turns = models.map((model, index) => turn(index, answer(`a${index}`, 1000, model)));
    expect(listRequestSizes(turns)).toEqual([
      size(0, 1000, 0, true, "claude-opus-4-5"),
      size(1, 1000, 0, true, "claude-opus-4-5"),
      size(2, 1000, 1, true, "claude-haiku-4-5"),
      size(3, 1000, 1, true, "claude-haiku-4-5"),
    ]);
  });

  it("begins a stretch after turns that are missing, at the start too, and after several gaps just one", () => {
    const said = (index: number): Turn => turn(index, answer(`a${index}`, 1000));
    expect(listRequestSizes([said(0), said(2), said(3)])).toEqual([
      size(0, 1000),
      size(1, 1000, 1, false),
      size(2, 1000, 1, false),
    ]);
    expect(listRequestSizes([said(1), said(2)])).toEqual([size(0, 1000, 1, false), size(1, 1000, 1, false)]);
    const twice = [said(0), turn(2, ask("q2")), turn(4, ask("q4"), answer("a4", 1000)), said(5)];
    expect(listRequestSizes(twice)).toEqual([size(0, 1000), size(21, 1000, 1, false), size(22, 1000, 1, false)]);
  });

  it("does not break before the gap", () => {
    const turns = [turn(0, answer("a0", 1000)), turn(1, answer("a1", 1000)), turn(3, ask("q3"), answer("a3", 1000))];
    expect(listRequestSizes(turns).map(({ stretch }) => stretch)).toEqual([0, 0, 1]);
  });
});
