import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { countArrivals, countProgress } from "../../../src/app/conversation/progress.ts";
import { createOutput, type OutputStream } from "../../../src/cli/frame/output.ts";
import { safe } from "../../../src/core/safe-text.ts";

let chunks: string[];
let stderr: OutputStream;
beforeEach(() => {
  vi.useFakeTimers();
  chunks = [];
  stderr = { isTTY: true, columns: 80, write: (chunk) => chunks.push(String(chunk)) > 0, on: () => undefined };
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const ERASE = "\r\u001b[K";
const open = (more: { readonly quiet?: boolean; readonly json?: boolean } = {}) =>
  createOutput({
    stdout: { write: () => true, on: () => undefined },
    stderr,
    ...more,
    env: { NO_COLOR: "1" },
  });
const lines = (): readonly string[] => chunks.filter((chunk) => chunk !== ERASE).map((chunk) => chunk.slice(4));
const times = <Item>(count: number, item: Item): readonly Item[] => Array.from({ length: count }, () => item);

/** Works on items that take so long each, without ever waiting. */
function work(output: ReturnType<typeof open>, { items, each }: { items: number; each: number }): void {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  for (const _ of countProgress({ progress: output.counts }, "reading files", times(items, 0))) now += each;
}

describe("the progress of long work", () => {
  it("is not shown for work that takes a second", () => {
    work(open(), { items: 100, each: 10 });
    expect(chunks).toEqual([]);
  });

  it("counts after a second, tells the time that is left after five, and is gone at the end", () => {
    work(open(), { items: 40, each: 500 });
    expect(lines()).toEqual([
      ...Array.from({ length: 8 }, (_, at) => `reading files: ${at + 2} of 40`),
      ...Array.from({ length: 30 }, (_, at) =>
        expect.stringMatching(`^reading files: ${at + 10} of 40, about \\d+ s left$`),
      ),
    ]);
    expect(lines()[8]).toBe("reading files: 10 of 40, about 15 s left");
    expect(chunks.at(-1)).toBe(ERASE);
  });

  it("draws no more than ten times a second", () => {
    work(open(), { items: 200_000, each: 0.05 });
    expect(chunks.length).toBeGreaterThan(10);
    expect(chunks.length).toBeLessThan(100);
  });

  it("goes on while an item takes long, and says how long it has taken if there is only one", async () => {
    const output = open();
    const slow = (async function* () {
      await new Promise((done) => setTimeout(done, 90_000));
      yield 1;
    })();
    const all = (async () => {
      for await (const _ of countArrivals({ progress: output.counts }, "reading", { items: slow, total: 1 }));
      output.info(safe`done`);
    })();
    await vi.advanceTimersByTimeAsync(1500);
    expect(lines()).toContain("reading");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines()).toContain("reading, for 60 s so far");
    await vi.advanceTimersByTimeAsync(60_000);
    await all;
    expect(chunks.slice(-2)).toEqual([ERASE, "done\n"]);
    const drawn = chunks.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(chunks).toHaveLength(drawn);
  });

  it.each([
    [3_600_000 * 3, "about 3 h left"],
    [600_000, "about 10 min left"],
    [42_000, "about 40 s left"],
    [2_400, "about 2 s left"],
  ])("rounds what is left: %i ms", (left, words) => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const output = open();
    output.counts({ doing: "reading", done: 0, total: 100 });
    now = Math.max(6000, left);
    output.counts({ doing: "reading", done: (100 * now) / (now + left), total: 100 });
    expect(chunks.at(-1)).toContain(words);
  });

  it("is gone when the loop ends early, also by an error", () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const output = open();
    const failing = (): void => {
      for (const _ of countProgress({ progress: output.counts }, "reading", times(9, 0))) {
        if (now > 3000) throw new Error("no");
        now += 1000;
      }
    };
    expect(failing).toThrow("no");
    expect(chunks.at(-1)).toBe(ERASE);
    expect(vi.getTimerCount()).toBe(1); // the pause between two drawings, which draws nothing
    vi.advanceTimersByTime(10_000);
    expect(chunks.at(-1)).toBe(ERASE);
  });

  it.each([["quiet"], ["json"]])("is not shown with --%s", (name) => {
    work(open({ [name]: true }), { items: 40, each: 500 });
    expect(chunks).toEqual([]);
  });

  it("is not shown without a terminal", () => {
    Object.assign(stderr, { isTTY: false });
    work(open(), { items: 40, each: 500 });
    expect(chunks).toEqual([]);
  });
});
