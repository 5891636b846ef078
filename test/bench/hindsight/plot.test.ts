// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { overlaps, placeLabels } from "../../../bench/hindsight/label-places.ts";
import { renderPlot } from "../../../bench/hindsight/plot.ts";
import { renderCycles, renderFigures, renderSessions } from "../../../bench/hindsight/tables.ts";

const frame = { left: 0, top: 0, right: 900, bottom: 600 };
const facts = { frame, font: 12, radius: 4 };

describe("placeLabels", () => {
  it("names every point once, inside the frame, and no name covers another", () => {
    const point = fc.record({
      name: fc.string({ minLength: 1, maxLength: 16 }),
      x: fc.integer({ min: 40, max: 860 }),
      y: fc.integer({ min: 40, max: 560 }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(point, { maxLength: 12, selector: ({ x, y }) => `${x >> 5} ${y >> 5}` }), (points) => {
        const placed = placeLabels(points, facts);
        expect(placed.map(({ name }) => name).sort()).toEqual(points.map(({ name }) => name).sort());
        const boxes = placed.map(({ name, x, y }) => {
          return { left: x, top: y - 10.8, right: x + name.length * 6.6, bottom: y + 3 };
        });
        for (const [at, box] of boxes.entries()) {
          expect(box.left).toBeGreaterThanOrEqual(frame.left);
          expect(box.right).toBeLessThanOrEqual(frame.right + 0.01);
          for (const other of boxes.slice(at + 1)) expect(overlaps(box, other)).toBe(false);
        }
      }),
    );
  });

  it("leads from a point to a name that found no place beside it", () => {
    const crowd = Array.from({ length: 12 }, (_, at) => ({ name: `a long name ${at}`, x: 450 + at, y: 300 }));
    const placed = placeLabels(crowd, facts);
    expect(placed.some(({ leader }) => leader !== null)).toBe(true);
    expect(placeLabels([crowd[0]!], facts)[0]?.leader).toBeNull();
  });
});

describe("renderPlot", () => {
  const plot = {
    points: [
      { name: "auto", group: "jpg", size: 33, lift: 9 },
      { name: 'a <b> & "c"', group: "others", size: 8, lift: -3 },
    ],
    groups: ["jpg", "others"],
    line: {
      name: "masking",
      points: [
        { size: 0, lift: 0 },
        { size: 100, lift: 0 },
      ],
    },
  };

  it("names points and groups, escaped, and has colours for light and dark", () => {
    const svg = renderPlot(plot);
    for (const name of [">auto<", '>a &lt;b&gt; &amp; "c"<', ">jpg<", ">others<", ">masking<"])
      expect(svg).toContain(name);
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg.match(/<circle/g)).toHaveLength(4);
    expect(svg).not.toContain("NaN");
  });

  it("puts a higher lift higher and a larger size to the right", () => {
    const at = (size: number, lift: number) => {
      const points = [{ name: "x", group: "jpg", size, lift }];
      const [, x, y] = /cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+"><title>/.exec(renderPlot({ ...plot, points })) ?? [];
      return { x: Number(x), y: Number(y) };
    };
    expect(at(50, 4).x).toBeGreaterThan(at(20, 4).x);
    expect(at(50, 4).y).toBeLessThan(at(50, 1).y);
  });
});

describe("tables", () => {
  it("say how many sessions of which agent were cut", () => {
    const sessions = [
      { name: "a", agent: "pi", cuts: 2 },
      { name: "b", agent: "codex", cuts: 1 },
      { name: "c", agent: "pi", cuts: 4 },
    ];
    expect(renderSessions({ sessions })).toBe("codex: 1 session, 1 cut; pi: 2 sessions, 6 cuts");
  });

  it("say after how many cycles a view stays full", () => {
    const cycles = Array.from({ length: 7 }, (_, at) => ({ freed: 0.5, floor: 0.1 * at }));
    expect(renderCycles([{ name: "auto", size: 40_000, cycles }]).split("\n")[2]).toBe(
      "| 40k | auto | 50.0, 0.0 | 50.0, 20.0 | – | 7 |",
    );
  });

  it("mark lifts with a sign, and what could not be counted", () => {
    const row = {
      name: "x",
      group: "check",
      size: 1,
      recall: 2,
      lift: -3,
      liftSpread: [-4, 5],
      needleRecall: 6,
    } as const;
    const rest = { needleLift: 7, inContext: 8, needlesInContext: 9, aboveMasking: 0, recovery: Number.NaN };
    const last = { recoveryByPhrase: 1, recoveryRanked: 2, stale: 3 };
    expect(renderFigures([{ ...row, ...rest, ...last }]).split("\n")[2]).toBe(
      "| x | 1.0 | 2.0 | −3.0 | −4.0 … +5.0 | 6.0 | +7.0 | 8.0 | +0.0 | – | 2.0 | 3.0 |",
    );
  });
});
