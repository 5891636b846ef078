// The timeline drawn finer: bars of what was said and of what the model reads, a line of what turns cost. A range that is chosen on
// it, by mouse or with arrow keys, is asked about: what would compacting it do?
import uPlot from "uplot";
import { formatTokens } from "../src/core/conversation/token-estimate.ts";
import { chartOptions, type Numbers, readColours } from "./chart.ts";
import { make, one } from "./dom.ts";
import { dryRun } from "./dry-run.ts";
import { go } from "./go.ts";

const HEIGHT = 168;

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
  const show = (at: number | null): void => {
    readout.replaceChildren(...(at === null ? legend : [describe(numbers, at)]));
  };
  let chart = createChart(plot, numbers, show);
  handleArrowKeys(plot, () => chart, numbers.turns);
  new ResizeObserver(() => plot.isConnected && chart.setSize({ width: plot.clientWidth, height: HEIGHT })).observe(
    plot,
  );
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (!plot.isConnected) return;
    chart.destroy();
    chart = createChart(plot, numbers, show);
  });
}

function readNumbers({ turns, raw = "", view = "", cost = "" }: DOMStringMap): Numbers {
  const read = (text: string): number[] => text.split(",").map(Number);
  return {
    turns: turns === undefined ? read(raw).map((_, at) => at) : read(turns),
    raw: read(raw),
    view: read(view),
    cost: cost === "" ? [] : cost.split(",").map((text) => (text === "" ? null : Number(text))),
  };
}

function describe({ turns, raw, view, cost }: Numbers, at: number): string {
  const dollars = cost[at];
  const price = dollars == null ? "" : ` · $${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
  return `turn ${turns[at]} · said ${formatTokens(raw[at] ?? 0)} tokens · the model reads ${formatTokens(view[at] ?? 0)}${price}`;
}

function createChart(plot: HTMLElement, numbers: Numbers, show: (at: number | null) => void): uPlot {
  const colours = readColours(plot);
  const options = chartOptions(numbers, colours, { width: plot.clientWidth, height: HEIGHT });
  const { raw, view, cost } = numbers;
  const data: uPlot.AlignedData = [raw.map((_, turn) => turn), [...raw], [...view]];
  const hooks: uPlot.Hooks.Arrays = {
    setCursor: [({ cursor: { idx } }) => show(idx ?? null)],
    setSelect: [(chosen) => choose(chosen, numbers.turns)],
  };
  const chart = new uPlot({ ...options, hooks }, cost.length === 0 ? data : [...data, [...cost]], plot);
  plot.querySelector("svg")?.remove();
  // A click that is no drag goes to the turn.
  let pressed = 0;
  chart.over.addEventListener("mousedown", ({ clientX }) => {
    pressed = clientX;
  });
  chart.over.addEventListener("click", ({ clientX }) => {
    if (Math.abs(clientX - pressed) < 4 && chart.cursor.idx != null) goToTurn(numbers.turns[chart.cursor.idx] ?? 0);
  });
  return chart;
}

function choose({ select, posToIdx }: uPlot, turns: readonly number[]): void {
  const at = (position: number): number => turns[posToIdx(position)] ?? 0;
  if (select.width > 0) dryRun({ from: at(select.left), to: at(select.left + select.width) });
}

function goToTurn(turn: number): void {
  const address = new URL(location.href);
  address.hash = `#turn-${turn}`;
  history.pushState(null, "", address);
  void go(address);
}

/** Arrow keys move from turn to turn, with Shift they choose a range; Enter goes to the turn. */
function handleArrowKeys(plot: HTMLElement, chart: () => uPlot, turns: readonly number[]): void {
  const count = turns.length;
  plot.tabIndex = 0;
  plot.setAttribute("role", "application");
  plot.setAttribute(
    "aria-label",
    "Tokens by turn: arrow keys choose a turn, with Shift a range of turns; Enter goes to the turn",
  );
  let [anchor, at] = [0, 0];
  plot.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -count, End: count }[event.key];
    if (event.key === "Enter") goToTurn(turns[at] ?? at);
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
