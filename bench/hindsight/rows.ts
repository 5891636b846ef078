// What is measured: a row is a way to make a view of the past. Those of jpg, and plain rules of others.

import { STRATEGIES } from "../../src/core/compact/strategies/strategy-list.ts";
import type { Event } from "../../src/core/conversation/event.ts";
import { type CountTokens, keepLast, maskResults, textOnly } from "./baselines.ts";
import { compact, policiesOf, type Treatment, viewOf, withIndex } from "./compact-past.ts";
import type { Cut } from "./cut.ts";
import type { FactReader } from "./fact-reader.ts";

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
  | "without index"
  | "agent";

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
  byJpg("extract 2k, newest 3k", "summary", { extract: 2000, newestTokens: 3000 }),
  byJpg("auto, then extract", "summary", { strategies: ["auto"], extract: "usual" }),
  byJpg("auto, first lines", "stubs", { strategies: ["auto"], stubs: { first_line: true } }),
  byJpg("auto, pointers", "stubs", { strategies: ["auto"], stubs: { pointers: true } }),
  byJpg("auto", "without index", { strategies: ["auto"] }),
  byJpg("default", "without index", { policies: policiesOf("default") }),
  byJpg("heavy (extract)", "without index", { extract: "usual" }),
  byJpg("auto, then extract", "without index", { strategies: ["auto"], extract: "usual" }),
  { name: "keep last 20k", group: "plain rule", view: newest(20_000) },
  { name: "keep last 20k, index", group: "plain rule", view: withItsIndex(newest(20_000)) },
  { name: "keep last 10k, index", group: "plain rule", view: withItsIndex(newest(10_000)) },
  { name: "mask all but 10", group: "plain rule", view: ({ past }) => maskResults(past, 10) },
  { name: "text only", group: "plain rule", view: ({ past }) => textOnly(past) },
];

function newest(tokens: number): Row["view"] {
  return ({ past, count }) => keepLast(past, tokens, count);
}

function withItsIndex(view: Row["view"]): Row["view"] {
  return (all) => withIndex(all.turns, view(all));
}

/** Strategies alone are shown without index, so that each can be told from what the index adds. */
const BARE: readonly RowGroup[] = ["strategy", "without index"];

function byJpg(name: string, group: RowGroup, treatment: Treatment): Row {
  return {
    name: group === "without index" ? `${name}, bare` : name,
    group,
    view: ({ turns }) => {
      const view = viewOf({ turns, compactions: compact({ turns, compactions: [] }, treatment) });
      return BARE.includes(group) ? view : withIndex(turns, view);
    },
  };
}
