// What the model no longer sees after a compaction: the counts of a receipt, and the facts by name.
import type { LostFacts } from "../../core/compact/lost-facts.ts";
import { FACT_KINDS, type FactCounts, type FactKind, type LossReceipt } from "../../core/conversation/compaction.ts";
import { forTerminalLine, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { displayWidth, fitMiddle, fitWidth, type Rendering, type Style } from "../frame/terminal.ts";
import { wrapProse } from "../frame/wrap.ts";
import { groupDigits, renderCount } from "./quantity.ts";

const NAMES: Readonly<Record<FactKind, string>> = {
  files: "files",
  commands: "commands",
  numbers: "numbers",
  shas: "SHAs",
  issues: "issues",
  errors: "errors",
  identifiers: "identifiers",
  urls: "URLs",
  requests: "requests",
  pins: "pins",
};

/** A column of a loss receipt. */
interface LossColumn {
  readonly name: string;
  /** What it counts, for people. */
  readonly means?: string;
  /** Shown even if it counts nothing. */
  readonly always?: true;
  readonly count: (counts: FactCounts) => number;
  readonly cell: (counts: FactCounts, kind: FactKind, style: Style) => Cell;
}

const COLUMNS: readonly LossColumn[] = [
  { name: "TOTAL", always: true, count: ({ total }) => total, cell: ({ total }) => groupDigits(total) },
  {
    name: "VISIBLE",
    means: "still shown",
    always: true,
    count: ({ visible }) => visible,
    cell: ({ visible, by_name = 0 }) =>
      by_name === 0 ? amount(visible) : safe`${amount(visible)} (${groupDigits(by_name)} by name)`,
  },
  {
    name: "SUMMARY",
    means: "in the summary",
    count: ({ summary }) => summary,
    cell: ({ summary }) => amount(summary),
  },
  {
    name: "POINTER",
    means: "its stub says where",
    count: ({ pointer }) => pointer,
    cell: ({ pointer }) => amount(pointer),
  },
  {
    name: "HIDDEN",
    means: "not shown, kept by jpg",
    always: true,
    count: ({ hidden }) => hidden,
    cell: ({ hidden }, kind, style) =>
      hidden === 0 ? "-" : { text: groupDigits(hidden), paint: kind === "pins" ? style.bad : style.caution },
  },
  {
    name: "MENTIONED LATER",
    means: "gone, yet a later turn mentions it",
    count: ({ mentioned_later }) => mentioned_later,
    cell: ({ mentioned_later }) => amount(mentioned_later),
  },
];
const INDENT = "    " as const;

/**
 * Renders a receipt as lines without a heading, indented by four blanks; empty if the covered events hold no facts. Counts
 * files apart of which only the end of the path is visible.
 */
export function renderLoss(receipt: LossReceipt, { style, width }: Rendering): SafeText[] {
  const kinds = FACT_KINDS.flatMap((kind) => {
    const counts = receipt.facts[kind];
    return counts === undefined ? [] : [{ kind, counts }];
  });
  if (kinds.length === 0) return [];
  return [...lossTable(kinds, { style, width }), ...mentionLines(receipt, { style, width })];
}

interface KindCounts {
  readonly kind: FactKind;
  readonly counts: FactCounts;
}

/** A table of counts, and what its columns count. Columns of nothing are left out. */
function lossTable(kinds: readonly KindCounts[], { style, width }: Rendering): SafeText[] {
  const isUsed = (count: (counts: FactCounts) => number): boolean => kinds.some(({ counts }) => count(counts) > 0);
  const shown = COLUMNS.filter(({ count, always }) => always === true || isUsed(count));
  const rows: Cell[][] = [
    ["FACTS", ...shown.map(({ name }) => name)].map((text) => ({ text, paint: style.faint })),
    ...kinds.map(({ kind, counts }) => [NAMES[kind], ...shown.map(({ cell }) => cell(counts, kind, style))]),
  ];
  const columns = [{ shrinkTo: 8 }, ...shown.map(() => ({ align: "right" }) as const)];
  const meanings = shown.flatMap(({ name, means }) => (means === undefined ? [] : [`${name}: ${means}.`]));
  const legend = wrapProse(forTerminalLine(meanings.join(" ")), Math.min(width, LEGEND_COLUMNS) - INDENT.length);
  return [
    ...renderTable(rows, { columns, width, indent: INDENT }),
    ...legend.map((line) => safe`${INDENT}${style.faint(line)}`),
  ];
}

/** Columns of the lines below a table, where the terminal has no width. */
const LEGEND_COLUMNS = 80;

/** Kinds of facts in a short list. */
const MOST_KINDS = 6;
/** Columns of one fact in a line of several, at most. */
const FACT_COLUMNS = 36;

/**
 * Renders what the model no longer sees, by name: a line a kind, cut to the width, and how much it is. `more` says what names the rest.
 * Empty if the covered events hold no facts.
 */
export function renderLost(
  receipt: LossReceipt | undefined,
  lost: readonly LostFacts[],
  { style, width, more }: Rendering & { readonly more?: SafeText },
): SafeText[] {
  const total = Object.values(receipt?.facts ?? {}).reduce((sum, counts) => sum + counts.total, 0);
  const hidden = lost.reduce((sum, { facts }) => sum + facts.length, 0);
  if (hidden === 0) return total === 0 ? [] : [safe`${INDENT}${renderCount(total, "fact")}, none of them hidden`];
  const shown = lost.slice(0, MOST_KINDS);
  const counts = shown.map(({ kind, facts }) => [groupDigits(facts.length), nameOf(kind, facts.length)] as const);
  const [digits, letters] = [0, 1].map((column) => Math.max(...counts.map((cells) => cells[column]?.length ?? 0)));
  const columns =
    (Number.isFinite(width) ? width : LEGEND_COLUMNS) - INDENT.length - (digits ?? 0) - (letters ?? 0) - 3;
  const rows = shown.map(({ kind, facts }, at): Cell[] => [
    { text: counts[at]?.[0] ?? "", paint: style.caution },
    safe`${counts[at]?.[1] ?? ""} `,
    namesWithin(facts.map(SHOWN[kind] ?? asItIs), columns),
  ]);
  const table = renderTable(rows, { columns: [{ align: "right" }, {}, {}], indent: INDENT, gap: 1 });
  return [...table, ...wrapProse(safe`${INDENT}${sizeOfLoss(lost, shown.length)}${more ?? ""}`, width)];
}

/** How many facts are hidden, of which further kinds, and how many later turns mention. */
function sizeOfLoss(lost: readonly LostFacts[], shown: number): SafeText {
  const [hidden, later] = [(one: LostFacts) => one.facts.length, (one: LostFacts) => one.mentioned].map((count) =>
    lost.reduce((sum, one) => sum + count(one), 0),
  );
  const others = lost
    .slice(shown)
    .map(({ kind, facts }) => safe`${groupDigits(facts.length)} ${nameOf(kind, facts.length)}`);
  const also = others.length === 0 ? "" : safe`: these, and ${joinSafe(others, ", ")}`;
  const are = hidden === 1 ? safe`is` : safe`are`;
  const mentioned = later === 0 ? "" : safe` Later turns mention ${groupDigits(later ?? 0)} of them.`;
  return safe`${renderCount(hidden ?? 0, "fact")} ${are} hidden${also}.${mentioned}`;
}

/** A fact as a line of several shows it: cut to so many columns, at most. */
type ShownFact = (columns: number) => SafeText;

function asItIs(fact: string): ShownFact {
  return (columns) => fitMiddle(forTerminalLine(fact), Math.min(FACT_COLUMNS, columns));
}

/** Sentences are cut at their ends. */
function bySentence(fact: string): ShownFact {
  return (columns) => fitWidth(forTerminalLine(fact), columns);
}

const SHOWN: Readonly<Partial<Record<FactKind, (fact: string) => ShownFact>>> = {
  files: (path) => asItIs(fileName(path)),
  commands: bySentence,
  requests: bySentence,
  errors: (line) => bySentence(line.replace(TAGS_AROUND, "")),
};

/** As many facts as a line has room for, at least one. */
function namesWithin(facts: readonly ShownFact[], columns: number): SafeText {
  const room = facts.length === 1 ? columns : columns - ELLIPSIS.length;
  const most = Math.max(MENTION_COLUMNS, room);
  let line: SafeText = "";
  for (const [at, fact] of facts.entries()) {
    const next: SafeText = safe`${line}${at === 0 ? "" : ", "}${fact(most)}`;
    const isLast = at === facts.length - 1;
    if (at > 0 && displayWidth(next) + (isLast ? 0 : ELLIPSIS.length) > columns) return safe`${line}${ELLIPSIS}`;
    line = next;
  }
  return line;
}

const ELLIPSIS = ", …" as const;
/** Tags that some tools put around the whole message: `<error>…</error>`. */
const TAGS_AROUND = /^<[\w-]{1,40}>|<\/[\w-]{1,40}>$/g;

/** Columns of a file with its folder, at most. */
const FILE_COLUMNS = 28;

/** The file and its folder, or without it if both are long: the beginning of a path is the same for most. */
function fileName(path: string): string {
  const ends = path.split("/");
  const two = ends.slice(-2).join("/");
  return two.length <= FILE_COLUMNS ? two : (ends.at(-1) ?? path);
}

/** Renders all that the model no longer sees: lines one below the other, single words side by side. */
export function renderAllLost(lost: readonly LostFacts[], { style, width }: Rendering): SafeText[] {
  return lost.flatMap(({ kind, facts }) => {
    const heading = safe`${INDENT}No longer seen: ${groupDigits(facts.length)} ${nameOf(kind, facts.length)}`;
    const texts = facts.map((fact) => forTerminalLine(fact));
    const lines = IS_WORD[kind]
      ? wrapProse(joinSafe(texts, ", "), width - INDENT.length - 2)
      : texts.map((text) => fitMiddle(text, Math.max(MENTION_COLUMNS, width - INDENT.length - 2)));
    return ["", style.heading(heading), ...lines.map((line) => safe`${INDENT}  ${line}`)];
  });
}

/** Whether facts of a kind are single words. */
const IS_WORD: Readonly<Record<FactKind, boolean>> = {
  files: false,
  commands: false,
  errors: false,
  requests: false,
  urls: false,
  numbers: true,
  shas: true,
  issues: true,
  identifiers: true,
  pins: true,
};

/** The name of a kind for so many of it. */
function nameOf(kind: FactKind, count: number): SafeText {
  const name = NAMES[kind];
  return forTerminalLine(count === 1 ? name.slice(0, -1) : name);
}

function amount(count: number): SafeText {
  return count === 0 ? safe`-` : groupDigits(count);
}

/** Columns for what is mentioned, at least, and for what stands beside it at most. */
const MENTION_COLUMNS = 16;
const BESIDE_MENTION = 31;

function mentionLines({ facts, mentioned_later }: LossReceipt, { style, width }: Rendering): SafeText[] {
  if (mentioned_later.length === 0) return [];
  const all = Object.values(facts).reduce((sum, counts) => sum + counts.mentioned_later, 0);
  const rows = mentioned_later.map(({ kind, text, turn }) => [
    { text: NAMES[kind], paint: style.faint },
    // A path keeps the file's name.
    fitMiddle(forTerminalLine(text), Math.max(MENTION_COLUMNS, width - BESIDE_MENTION)),
    { text: safe`turn ${groupDigits(turn)}`, paint: style.faint },
  ]);
  const rest = all - mentioned_later.length;
  return [
    "",
    safe`${INDENT}Source gone, still mentioned by a later turn:`,
    ...renderTable(rows, { columns: [{}, { shrinkTo: MENTION_COLUMNS }, {}], width, indent: `${INDENT}  ` }),
    ...(rest > 0 ? [safe`${INDENT}  … ${groupDigits(rest)} more`] : []),
  ];
}
