// The plot of size against lift, as SVG that can be read on light and on dark ground: colours follow the reader's scheme, every point
// has its name beside it.
import { type Box, placeLabels } from "./label-places.ts";

/** A point with its name; both percent. */
export interface PlotPoint {
  readonly name: string;
  /** Points of one group have one colour. */
  readonly group: string;
  readonly size: number;
  readonly lift: number;
}

/** What is drawn. */
export interface Plot {
  readonly points: readonly PlotPoint[];
  /** A faint line beneath the points. */
  readonly line: { readonly name: string; readonly points: readonly Omit<PlotPoint, "name" | "group">[] };
  readonly groups: readonly string[];
}

const WIDTH = 900;
const HEIGHT = 600;
const FRAME: Box = { left: 64, top: 24, right: WIDTH - 24, bottom: HEIGHT - 56 };
const STEP = 5;
const FONT = 12;
const RADIUS = 4.5;
/** Colours for light and dark ground, by position of the group. */
const COLOURS: readonly (readonly [string, string])[] = [
  ["#5b6470", "#a3adba"],
  ["#0b63c4", "#6cb0ff"],
  ["#a2310a", "#ff9a6b"],
  ["#1c7a34", "#63cf7d"],
  ["#7a2fa8", "#cf9bf2"],
  ["#8a6100", "#e3b64a"],
  ["#0b7285", "#5fd3e6"],
  ["#b0206d", "#ff8cc6"],
];

/** Draws it. */
export function renderPlot({ points, line, groups }: Plot): string {
  const lifts = [...points, ...line.points].map(({ lift }) => lift);
  const bottom = Math.floor(Math.min(0, ...lifts) / STEP) * STEP;
  const top = Math.ceil(Math.max(STEP, ...lifts) / STEP) * STEP;
  const x = (size: number): number => FRAME.left + (size / 100) * (FRAME.right - FRAME.left);
  const y = (lift: number): number => FRAME.bottom - ((lift - bottom) / (top - bottom)) * (FRAME.bottom - FRAME.top);
  const placed = points.map((point) => ({ ...point, x: x(point.size), y: y(point.lift) }));
  const labels = placeLabels(placed, { frame: FRAME, font: FONT, radius: RADIUS });
  const legend = groups.map((group, at) => legendOf(group, at));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="${FONT}" role="img" aria-labelledby="title">`,
    '<title id="title">Size of the view against lift, one point for each way to compact</title>',
    styles(groups.length),
    ...Array.from({ length: (top - bottom) / STEP + 1 }, (_, at) => horizontal(bottom + at * STEP, y)),
    ...[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100].map((size) => vertical(size, x)),
    text(WIDTH / 2, HEIGHT - 16, "size: tokens of the view, % of the conversation before the cut", "middle"),
    `<text transform="translate(18 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">lift: recall less that of random drops of the same size, points</text>`,
    `<polyline class="rule" points="${line.points.map(({ size, lift }) => `${fixed(x(size))},${fixed(y(lift))}`).join(" ")}"/>`,
    ...legend,
    `<line class="rule" x1="${FRAME.right - 190}" y1="${FRAME.top + 14 + groups.length * 18}" x2="${FRAME.right - 172}" y2="${FRAME.top + 14 + groups.length * 18}"/>`,
    text(FRAME.right - 164, FRAME.top + 18 + groups.length * 18, line.name, "start"),
    ...placed.map(({ x: cx, y: cy, group, name }) => {
      const title = `<title>${escapeText(name)}</title>`;
      return `<circle class="g${groups.indexOf(group)}" cx="${fixed(cx)}" cy="${fixed(cy)}" r="${RADIUS}">${title}</circle>`;
    }),
    ...labels.flatMap(({ name, x: at, y: base, leader }) => [
      ...(leader === null ? [] : [leaderOf(leader)]),
      text(at, base, name, "start"),
    ]),
    "</svg>\n",
  ].join("\n");
}

function styles(groups: number): string {
  const colours = (scheme: 0 | 1): string =>
    COLOURS.slice(0, groups)
      .map((pair, at) => `.g${at}{fill:${pair[scheme]}}`)
      .join("");
  return [
    "<style>",
    `text{fill:#1f2328}.grid{stroke:#d4d8dd;stroke-width:1}.zero{stroke:#8b949e;stroke-width:1.5}.rule{stroke:#8b949e;stroke-width:1.5;stroke-dasharray:5 4;fill:none}.lead{stroke:#8b949e;stroke-width:.75}${colours(0)}`,
    `@media (prefers-color-scheme: dark){text{fill:#e6edf3}.grid{stroke:#343b44}.zero,.rule,.lead{stroke:#8b949e}${colours(1)}}`,
    "</style>",
  ].join("\n");
}

function horizontal(lift: number, y: (lift: number) => number): string {
  const at = fixed(y(lift));
  const name = lift > 0 ? `+${lift}` : `${lift}`.replace("-", "−");
  return `<line class="${lift === 0 ? "zero" : "grid"}" x1="${FRAME.left}" y1="${at}" x2="${FRAME.right}" y2="${at}"/>${text(FRAME.left - 8, y(lift) + 4, name, "end")}`;
}

function vertical(size: number, x: (size: number) => number): string {
  const at = fixed(x(size));
  return `<line class="grid" x1="${at}" y1="${FRAME.top}" x2="${at}" y2="${FRAME.bottom}"/>${text(x(size), FRAME.bottom + 18, String(size), "middle")}`;
}

function legendOf(group: string, at: number): string {
  const [left, base] = [FRAME.right - 190, FRAME.top + 18 + at * 18];
  return `<circle class="g${at}" cx="${left + 9}" cy="${base - 4}" r="${RADIUS}"/>${text(left + 26, base, group, "start")}`;
}

function leaderOf({
  x1,
  y1,
  x2,
  y2,
}: {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}): string {
  return `<line class="lead" x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}"/>`;
}

function text(x: number, y: number, words: string, anchor: "start" | "middle" | "end"): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}">${escapeText(words)}</text>`;
}

function escapeText(words: string): string {
  return words.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
