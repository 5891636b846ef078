// What is measured: a row is a way to make a view of the past. Those of jpg, plain rules of others, and experiments that jpg does
// not have.
import { type Event, isUserRequest } from "../../src/core/event/event.ts";
import { STRATEGIES } from "../../src/core/strategies/strategy-list.ts";
import { type CountTokens, keepLast, maskResults, textOnly } from "./baselines.ts";
import { compact, policiesOf, type Treatment, viewOf } from "./compact-past.ts";
import type { Cut } from "./cut.ts";
import type { FactReader } from "./fact-reader.ts";
import { withHeads } from "./heads.ts";
import { IDENTIFIERS, INDEX, withIndex } from "./hidden-index.ts";
import { outline } from "./outline.ts";

/** What a view is made of and with. */
export interface Past extends Pick<Cut, "turns" | "past"> {
  readonly reader: FactReader;
  readonly count: CountTokens;
}

export type RowGroup =
  | "check"
  | "strategy"
  | "pipeline"
  | "profile"
  | "summary"
  | "stubs"
  | "plain rule"
  | "agent"
  | "experiment";

export interface Row {
  readonly name: string;
  readonly group: RowGroup;
  /** Gives the events that a model is sent. */
  readonly view: (past: Past) => readonly Event[];
}

/** Strategies that need a person or a model to say what goes. */
const NOT_MECHANICAL: readonly string[] = ["classify-tangents", "summarize"];

/** All rows, in the order of the table. */
export const ROWS: readonly Row[] = [
  { name: "raw", group: "check", view: ({ past }) => past },
  { name: "nothing", group: "check", view: () => [] },
  ...STRATEGIES.map(({ name }) => name)
    .filter((name) => !NOT_MECHANICAL.includes(name))
    .map((name) => byJpg(name, "strategy", { strategies: [name] })),
  byJpg("auto", "pipeline", { strategies: ["auto"] }),
  byJpg("tiered 0.5", "pipeline", { strategies: ["tiered"], target: "0.5" }),
  byJpg("tiered 0.25", "pipeline", { strategies: ["tiered"], target: "0.25" }),
  byJpg("light", "profile", { policies: policiesOf("light") }),
  byJpg("default", "profile", { policies: policiesOf("default") }),
  byJpg("heavy (extract)", "profile", { extract: "usual" }),
  byJpg("extract 2k", "summary", { extract: 2000 }),
  byJpg("extract 8k", "summary", { extract: 8000 }),
  byJpg("auto, then extract", "summary", { strategies: ["auto"], extract: "usual" }),
  byJpg("auto, first lines", "stubs", { strategies: ["auto"], stubs: { first_line: true } }),
  byJpg("auto, pointers", "stubs", { strategies: ["auto"], stubs: { pointers: true } }),
  { name: "keep last 20k", group: "plain rule", view: ({ past, count }) => keepLast(past, 20_000, count) },
  { name: "mask all but 10", group: "plain rule", view: ({ past }) => maskResults(past, 10) },
  { name: "text only", group: "plain rule", view: ({ past }) => textOnly(past) },
  ...["auto", "default"].map((name) => experiment(`${name} + heads`, name, (view, { past }) => withHeads(view, past))),
  ...["auto", "default", "heavy (extract)", "auto, newest 20k"].map((name) =>
    experiment(`${name} + index`, name, addIndex),
  ),
  ...["auto", "heavy (extract)"].map((name) => experiment(`${name} + identifiers`, name, addIdentifiers)),
  experiment("auto, newest 20k", "auto, newest 20k", (view) => view),
  indexed("mask all but 10", ({ past }) => maskResults(past, 10)),
  indexed("keep last 20k", ({ past, count }) => keepLast(past, 20_000, count)),
  indexed("requests and last 20k", requestsAndLast),
  {
    name: "outlines and last 20k",
    group: "experiment",
    view: ({ past, count }) => outline(past, 20_000, count),
  },
  indexed("outlines and last 20k", ({ past, count }) => outline(past, 20_000, count)),
];

function addIndex(view: readonly Event[], all: Past): readonly Event[] {
  return withIndex(view, all, { ...all, parts: INDEX });
}

function addIdentifiers(view: readonly Event[], all: Past): readonly Event[] {
  return withIndex(view, all, { ...all, parts: IDENTIFIERS });
}

function indexed(name: string, view: Row["view"]): Row {
  return { name: `${name} + index`, group: "experiment", view: (all) => addIndex(view(all), all) };
}

/** What the user asked for, and the newest events. */
function requestsAndLast({ past, count }: Past): readonly Event[] {
  const last = new Set(keepLast(past, 20_000, count));
  return past.filter((event) => last.has(event) || isUserRequest(event));
}

function byJpg(name: string, group: RowGroup, treatment: Treatment): Row {
  return { name, group, view: ({ turns }) => viewUnder(turns, treatment) };
}

function viewUnder(turns: Past["turns"], treatment: Treatment): readonly Event[] {
  return viewOf({ turns, compactions: compact({ turns, compactions: [] }, treatment) });
}

const TREATMENTS: Readonly<Record<string, Treatment>> = {
  auto: { strategies: ["auto"] },
  default: { policies: policiesOf("default") },
  "heavy (extract)": { extract: "usual" },
  "auto, newest 20k": { strategies: ["auto"], newestTokens: 20_000 },
};

function experiment(name: string, over: string, change: (view: readonly Event[], all: Past) => readonly Event[]): Row {
  return { name, group: "experiment", view: (all) => change(viewUnder(all.turns, TREATMENTS[over] ?? {}), all) };
}
