// `jpg blame`: one line an event, as `git blame` has it; then the compactions that decide, and what the model sees instead.
import type { BlameReport, BlameRow, BlameSource } from "../../app/look/blame.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { indentText } from "./indent-text.ts";
import { renderTime, shortCommit } from "./render-quantity.ts";

/** Renders who decides how each event is read. */
export function renderBlame({ rows }: BlameReport, rendering: Rendering): SafeText {
  const { style } = rendering;
  const table = renderTable(
    rows.map((row) => cells(row, style)),
    { columns: COLUMNS },
  );
  const [only] = rows.length === 1 ? rows : [];
  return joinLines([...table, ...(only === undefined ? deciders(rows, style) : details(only, style))]);
}

/** Lines shown of what stands for a whole turn before the rest is only counted. */
const MOST_LINES = 12;

/** Of several events: each compaction that decides over some of them, once, in order. */
function deciders(rows: readonly BlameRow[], style: Style): readonly SafeText[] {
  const decided = new Map(rows.flatMap(({ by }) => (by === undefined ? [] : [[by.compaction, by] as const])));
  if (decided.size === 0) return [];
  const blocks = [...decided.values()].flatMap((by) => {
    const text = commonText(rows.filter((row) => row.by?.compaction === by.compaction));
    return [commitLine(by, style), ...(text === undefined ? [] : excerpt(text, by.compaction))];
  });
  const isCut = rows.some(({ state }) => state === "changed");
  return ["", ...blocks, ...(isCut ? ["" as const, EVENT_HINT] : [])];
}

const EVENT_HINT = safe`\`jpg blame EVENT\` shows what the model sees in place of one event.`;
const SEES_INSTEAD = safe`The model sees instead:`;

/** The one text that stands for all of these events that are hidden. */
function commonText(rows: readonly BlameRow[]): string | undefined {
  const texts = new Set(rows.flatMap((row) => hiddenText(row) ?? []));
  return texts.size === 1 ? [...texts][0] : undefined;
}

/** What stands for an event that is hidden with its turn; undefined for every other. */
function hiddenText({ state, sees }: BlameRow): string | undefined {
  return state === "hidden" ? sees : undefined;
}

function excerpt(text: string, compaction: string): readonly SafeText[] {
  const lines = indentText(text);
  const rest = lines.length - MOST_LINES;
  const shown = rest > 1 ? lines.slice(0, MOST_LINES) : lines;
  const more = rest > 1 ? [safe`    … ${rest} more lines (\`jpg show ${forTerminalLine(compaction)}\`)`] : [];
  return [SEES_INSTEAD, ...shown, ...more];
}

const COLUMNS = [{}, {}, {}, {}, {}, {}];

function cells({ by, event, type, state, action }: BlameRow, style: Style): readonly Cell[] {
  const who =
    by === undefined ? ["-", "", ""] : [{ text: by.compaction, paint: style.id }, by.author, renderTime(by.timestamp)];
  const done = action ?? { text: state === "internal" ? "not sent" : "shown", paint: style.faint };
  return [...who, event, type, done];
}

function details({ by, sees, next, state }: BlameRow, style: Style): readonly SafeText[] {
  if (by === undefined) return [];
  const place =
    sees === undefined
      ? state === "hidden"
        ? [safe`The model sees nothing in its place.`]
        : []
      : [SEES_INSTEAD, ...indentText(sees)];
  const after = next === undefined ? safe`is shown as it is` : safe`is decided by ${style.id(forTerminalLine(next))}`;
  return [
    "",
    commitLine(by, style),
    ...place,
    "",
    safe`\`jpg revert ${forTerminalLine(by.compaction)}\` undoes it; the event then ${after}.`,
  ];
}

function commitLine({ commit, subject }: BlameSource, style: Style): SafeText {
  return safe`${style.commit(shortCommit(commit))} ${forTerminalLine(subject)}`;
}
