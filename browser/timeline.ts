// The timeline drawn finer: bars of what was said and of what the model reads, a line of what turns cost. A range that is chosen on
// it, by mouse or with arrow keys, is asked about: what would compacting it do?
import uPlot from "uplot";
import { formatTokens } from "../src/core/tokens/token-estimate.ts";
import { make, one } from "./dom.ts";
import { dryRun } from "./dry-run.ts";
import { go } from "./go.ts";

const HEIGHT = 168;
/** Width of an axis, pixels; the lanes below are drawn in by as much. */
const AXIS = 48;

interface Numbers {
  readonly raw: readonly number[];
  readonly view: readonly number[];
  /** Dollars; null = not known. Empty when none is. */
  readonly cost: readonly (number | null)[];
}

/** Draws it in place of the picture that the page came with. */
export function drawTimeline(): void {
  const section = one("#timeline");
  const plot = section?.querySelector<HTMLElement>(".plot");
  const readout = section?.querySelector<HTMLElement>(".readout");
  if (section == null || plot == null || readout == null) return;
  const numbers = readNumbers(section.dataset);
  const legend = [...readout.childNodes];
  if (numbers.cost.length > 0) {
    legend.push(make("span", { class: "cost" }, "cost"));
    section.classList.add("costs");
  }
  readout.replaceChildren(...legend);
  section.classList.add("drawn");
  const tell = (at: number | null): void => {
    readout.replaceChildren(...(at === null ? legend : [describe(numbers, at)]));
  };
  let chart = createChart(plot, numbers, tell);
  takeArrows(plot, () => chart, numbers.raw.length);
  new ResizeObserver(() => chart.setSize({ width: plot.clientWidth, height: HEIGHT })).observe(plot);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    chart.destroy();
    chart = createChart(plot, numbers, tell);
  });
}

function readNumbers({ raw = "", view = "", cost = "" }: DOMStringMap): Numbers {
  const read = (text: string): number[] => text.split(",").map(Number);
  return {
    raw: read(raw),
    view: read(view),
    cost: cost === "" ? [] : cost.split(",").map((text) => (text === "" ? null : Number(text))),
  };
}

function describe({ raw, view, cost }: Numbers, at: number): string {
  const dollars = cost[at];
  const price = dollars == null ? "" : ` · $${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
  return `turn ${at} · said ${formatTokens(raw[at] ?? 0)} tokens · the model reads ${formatTokens(view[at] ?? 0)}${price}`;
}

function createChart(plot: HTMLElement, numbers: Numbers, tell: (at: number | null) => void): uPlot {
  const count = numbers.raw.length;
  const hasCost = numbers.cost.length > 0;
  const colours = readColours(plot);
  const bars = uPlot.paths.bars?.({ size: [0.85, 60], align: 0 });
  const bar = (colour: string): uPlot.Series => ({
    fill: colour,
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  });
  const axis = (values: uPlot.Axis.Values, more: uPlot.Axis = {}): uPlot.Axis => ({
    stroke: colours.text,
    font: "12px system-ui, sans-serif",
    ticks: { show: false },
    grid: { stroke: colours.grid, width: 1 },
    values,
    ...more,
  });
  const small = (_: uPlot, splits: number[]): string[] => splits.map((tokens) => String(formatTokens(tokens)));
  const chart = new uPlot(
    {
      width: plot.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, hasCost ? 0 : 8, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: {
        x: { time: false, range: [-0.5, count - 0.5] },
        y: { range: (_u, _min, max) => [0, Math.max(1, max * 1.05)] },
        cost: { range: (_u, _min, max) => [0, Math.max(0.0001, max * 1.05)] },
      },
      axes: [
        axis((_, splits) => splits.map((turn) => (Number.isInteger(turn) ? String(turn) : "")), {
          size: 26,
          grid: { show: false },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
        }),
        axis(small, { size: AXIS }),
        ...(hasCost
          ? [
              axis((_, splits) => splits.map((dollars) => `$${dollars.toFixed(2)}`), {
                scale: "cost",
                side: 1,
                size: AXIS,
                grid: { show: false },
              }),
            ]
          : []),
      ],
      series: [
        {},
        bar(colours.raw),
        bar(colours.view),
        ...(hasCost
          ? [{ scale: "cost", stroke: colours.cost, width: 1.5, points: { show: false }, spanGaps: true }]
          : []),
      ],
      hooks: {
        setCursor: [({ cursor: { idx } }) => tell(idx ?? null)],
        setSelect: [(u) => choose(u)],
      },
    },
    [numbers.raw.map((_, turn) => turn), [...numbers.raw], [...numbers.view], ...(hasCost ? [[...numbers.cost]] : [])],
    plot,
  );
  plot.querySelector("svg")?.remove();
  chart.over.addEventListener("click", () => {
    if (chart.select.width === 0 && chart.cursor.idx != null) goToTurn(chart.cursor.idx);
  });
  return chart;
}

function choose({ select, posToIdx }: uPlot): void {
  if (select.width > 0) dryRun({ from: posToIdx(select.left), to: posToIdx(select.left + select.width) });
}

function goToTurn(turn: number): void {
  const address = new URL(location.href);
  address.hash = `#turn-${turn}`;
  history.pushState(null, "", address);
  void go(address);
}

/** Colours as the style sheet has them, light or dark. */
function readColours(plot: HTMLElement): Readonly<Record<"raw" | "view" | "cost" | "text" | "grid", string>> {
  const read = (name: string): string => {
    const probe = make("span", { class: name });
    plot.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return { raw: read("raw"), view: read("view"), cost: read("cost"), text: read("facts"), grid: read("grid") };
}

/** Arrow keys move from turn to turn, with Shift they choose a range; Enter goes to the turn. */
function takeArrows(plot: HTMLElement, chart: () => uPlot, count: number): void {
  plot.tabIndex = 0;
  plot.setAttribute("role", "application");
  plot.setAttribute(
    "aria-label",
    "Tokens by turn: arrow keys choose a turn, with Shift a range of turns; Enter goes to the turn",
  );
  let [anchor, at] = [0, 0];
  plot.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -count, End: count }[event.key];
    if (event.key === "Enter") goToTurn(at);
    if (by === undefined) return;
    event.preventDefault();
    at = Math.min(Math.max(0, at + by), count - 1);
    if (!event.shiftKey) anchor = at;
    mark(chart(), anchor, at);
  });
}

function mark(chart: uPlot, anchor: number, at: number): void {
  const edge = (turn: number): number => chart.valToPos(turn, "x");
  chart.setCursor({ left: edge(at), top: 1 });
  const [from, to] = [Math.min(anchor, at), Math.max(anchor, at)];
  const width = edge(to) - edge(from);
  chart.setSelect({ left: edge(from), width, top: 0, height: chart.over.clientHeight }, width > 0);
}
