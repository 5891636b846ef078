// How the timeline is drawn: bars of tokens, a line of costs with an axis of its own, in the colours of the style sheet.
import uPlot from "uplot";
import { formatTokens } from "../src/core/conversation/token-estimate.ts";
import { make } from "./dom.ts";

/** Width of an axis, pixels; the style sheet draws the lanes below in by as much. */
const AXIS = 48;

/** Of each turn, in order. */
export interface Numbers {
  /** Positions; a page of a view alone has not got all turns. */
  readonly turns: readonly number[];
  readonly raw: readonly number[];
  readonly view: readonly number[];
  /** Dollars; null = not known. Empty when none is. */
  readonly cost: readonly (number | null)[];
}

type Colours = Readonly<Record<"raw" | "view" | "cost" | "text" | "grid", string>>;
type Size = Readonly<Record<"width" | "height", number>>;

/** Colours as the style sheet has them, light or dark. */
export function readColours(plot: HTMLElement): Colours {
  const read = (name: string): string => {
    const probe = make("span", { class: name });
    plot.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return { raw: read("raw"), view: read("view"), cost: read("cost"), text: read("facts"), grid: read("grid") };
}

/** What the chart is drawn by; a range can be chosen on it. */
export function chartOptions({ turns, cost }: Numbers, colours: Colours, size: Size): uPlot.Options {
  const hasCost = cost.length > 0;
  return {
    ...size,
    legend: { show: false },
    padding: [8, hasCost ? 0 : 8, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { time: false, range: [-0.5, turns.length - 0.5] },
      y: { range: (_chart, _least, most) => [0, Math.max(1, most * 1.05)] },
      cost: { range: (_chart, _least, most) => [0, Math.max(0.0001, most * 1.05)] },
    },
    axes: axes(colours, turns, hasCost),
    series: [
      {},
      bars(colours.raw),
      bars(colours.view),
      ...(hasCost
        ? [{ scale: "cost", stroke: colours.cost, width: 1.5, points: { show: false }, spanGaps: true }]
        : []),
    ],
  };
}

function bars(fill: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.85, 60] });
  return { fill, width: 0, points: { show: false }, ...(paths && { paths }) };
}

function axes({ text, grid }: Colours, turns: readonly number[], hasCost: boolean): uPlot.Axis[] {
  const axis = (values: (value: number) => string, more: uPlot.Axis): uPlot.Axis => ({
    stroke: text,
    font: "12px system-ui, sans-serif",
    ticks: { show: false },
    grid: { stroke: grid, width: 1 },
    values: (_chart, splits) => splits.map(values),
    ...more,
  });
  const bare = { grid: { show: false } };
  return [
    axis((at) => String(turns[at] ?? ""), {
      ...bare,
      size: 26,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
    }),
    axis(formatTokens, { size: AXIS }),
    ...(hasCost ? [axis((dollars) => `$${dollars.toFixed(2)}`, { ...bare, scale: "cost", side: 1, size: AXIS })] : []),
  ];
}
