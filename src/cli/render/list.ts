// What `jpg log` and `blame` print: a line a row.
import type { BlameReport, BlameRow, BlameSource } from "../../app/look/blame.ts";
import type { GraphLine, LogReport, LogRow } from "../../app/look/log.ts";
import type { JpgError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { displayWidth, fitWidth, type Rendering, type Style } from "../frame/terminal.ts";
import { shownWidth, wrapProse } from "../frame/wrap.ts";
import {
  type BeforeAfter,
  indentText,
  renderFields,
  renderId,
  renderRange,
  renderShare,
  renderSource,
  renderTime,
  renderTokens,
  shortCommit,
} from "./quantity.ts";

export interface LogRendering extends Rendering {
  readonly verbose?: boolean;
  /** Shown name of the agent that the conversation comes from; absent = of none. */
  readonly agent?: string;
}

/** Renders the history, newest first; empty when there is none. */
export function renderLog(rows: LogReport, rendering: LogRendering): SafeText {
  if (rendering.verbose)
    return joinSafe(
      rows.map((row) => renderEntry(row, rendering)),
      "\n\n",
    );
  return joinLines(rows.map((row) => renderLogLine(row, rendering)));
}

/** Columns of a subject that stay on a narrow terminal. */
const LEAST_SUBJECT = 8;

/**
 * Renders one commit of the history as a line, cut to the terminal, e.g. `3fa9c1d (k3f9q2, in force) compact 0..12: …`; `lead` comes
 * before it.
 */
export function renderLogLine(row: LogRow, rendering: LogRendering, lead: SafeText = ""): SafeText {
  const { style, width } = rendering;
  const mark = row.message === undefined ? "" : safe` ${style.caution(safe`[message differs]`)}`;
  const head = safe`${lead}${style.commit(shortCommit(row.commit))} ${decoration(row, rendering)} `;
  const room = Math.max(LEAST_SUBJECT, width - shownWidth(head) - shownWidth(mark));
  const line = safe`${head}${fitSubject(row.subject, room)}${mark}`;
  if (row.note === undefined || row.kind === "revert") return line;
  return joinLines([line, ...wrapProse(safe`  ${forTerminalLine(row.note)}`, width)]);
}

/** Shortens a subject before the tokens at its end: those are what people look for. */
function fitSubject(subject: string, columns: number): SafeText {
  const [end = "", tokens = "", quote = ""] = /(\([^()]*) tokens\)("?)$/.exec(subject) ?? [];
  const whole = forTerminalLine(subject);
  const shown = forTerminalLine(`${tokens})${quote}`);
  const room = columns - displayWidth(shown) - 1;
  if (end === "" || room < LEAST_SUBJECT || displayWidth(whole) <= columns) return fitWidth(whole, columns);
  return safe`${fitWidth(forTerminalLine(subject.slice(0, -end.length).trimEnd()), room)} ${shown}`;
}

/** Renders the forks and commits of a conversation, as git draws them. */
export function renderGraph(lines: readonly GraphLine[], { style, width }: Rendering): SafeText {
  return joinLines(
    lines.map(({ strokes, commit, forks }) => {
      const drawn = forTerminalLine(strokes);
      if (commit === null) return drawn;
      const named = forks.length === 0 ? "" : safe`(${joinSafe(forks.map(forTerminalLine), ", ")}) `;
      const id = shortCommit(commit.id);
      const room = Math.max(1, width - displayWidth(safe`${drawn} ${id} ${named}`));
      return safe`${drawn} ${style.commit(id)} ${style.id(named)}${fitSubject(commit.subject, room)}`;
    }),
  );
}

function decoration(row: LogRow, { style, agent }: LogRendering): SafeText {
  const id = style.id(renderId(row.compaction));
  const what = row.cut_off === true ? safe`history is cut off here` : safe`squashed`;
  const squashed = row.squashed === true ? safe`, ${style.faint(what)}` : "";
  return safe`(${row.kind === "compaction" ? id : safe`${row.kind} of ${id}`}${stateOf(row, style)}${maker(row, agent)}${squashed})`;
}

/** Renders the state of a compaction at the tip; rows of reverts have none. */
function stateOf(row: LogRow, style: Style): SafeText {
  if (row.kind === "revert") return "";
  if (row.not_applied !== undefined && row.live) return safe`, ${style.caution(safe`not applied`)}`;
  return row.live ? safe`, ${style.good(safe`in force`)}` : safe`, ${style.faint(safe`reverted`)}`;
}

/** Says that the agent made it by itself: an imported summary is the agent's. */
function maker({ kind, source, summary }: LogRow, agent: string | undefined): SafeText {
  return kind === "revert" || source !== "import" || summary === undefined ? "" : renderMaker(agent);
}

/** `, by AGENT` as the agent calls itself; empty where the agent is not known. */
export function renderMaker(agent: string | undefined): SafeText {
  return agent === undefined ? "" : safe`, by ${forTerminalLine(agent)}`;
}

function renderEntry(row: LogRow, rendering: LogRendering): SafeText {
  const { style, width } = rendering;
  const range =
    row.from_turn === null || row.to_turn === null ? null : safe`turns ${renderRange(row.from_turn, row.to_turn)}`;
  const fields = renderFields(
    [
      ["Date", renderTime(row.timestamp)],
      ["Author", row.author],
      ["Range", range],
      ["Policies", row.policies],
      ["Tokens", row.tokens === null ? null : renderChange(row.tokens, row.tokens_source)],
      ["Source", row.source],
      ["Profile", row.profile],
      ["Not applied", row.not_applied],
      ["Note", row.note],
      ["Message", row.message === undefined ? null : renderMessage(row.message)],
    ],
    rendering,
  );
  const head = safe`${style.commit(safe`commit ${forTerminalLine(row.commit)}`)} ${decoration(row, rendering)}`;
  const heading = row.source === "import" ? ["Summary, as it was imported:", ""] : [];
  const body = [row.subject, ...(row.summary === undefined ? [] : ["", ...heading, row.summary])].join("\n");
  return joinLines([
    ...wrapProse(head, width),
    ...fields,
    "",
    ...indentText(body).flatMap((line) => wrapProse(line, width)),
  ]);
}

/** Renders a commit's own subject if it differs from the recorded one. */
export function renderMessage(message: string): string {
  return `"${message}" (the commit says so; the record does not)`;
}

function renderChange(tokens: BeforeAfter, source: LogRow["tokens_source"]): string {
  return `${renderTokens(tokens)} ${renderShare(tokens)}`.trimEnd() + renderSource(source);
}

/** Renders which branch cannot be read, why, and what to do. */
export function renderUnreadable({ branch, error }: { readonly branch: string; readonly error: JpgError }): SafeText {
  const why = safe`${forTerminalLine(branch)} cannot be read: ${forTerminal(error.message)}`;
  return joinLines([why, ...error.hints.map((hint) => forTerminal(hint))]);
}

/** Renders which compaction decides how each event is read. */
export function renderBlame({ rows }: BlameReport, rendering: Rendering): SafeText {
  const { style } = rendering;
  const table = renderTable(
    rows.map((row) => cells(row, style)),
    { columns: COLUMNS, width: rendering.width },
  );
  const [only] = rows.length === 1 ? rows : [];
  return joinLines([...table, ...(only === undefined ? deciders(rows, style) : details(only, style))]);
}

/** Most lines shown of the text that replaces a whole turn; the rest is counted. */
const MOST_LINES = 12;

/** Lists the compactions that decide on some of these events, each once, in order. */
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

/** Returns the one text that replaces all hidden ones of these events. */
function commonText(rows: readonly BlameRow[]): string | undefined {
  const texts = new Set(rows.flatMap((row) => hiddenText(row) ?? []));
  return texts.size === 1 ? [...texts][0] : undefined;
}

/** Returns the text that replaces an event hidden with its turn; undefined for other events. */
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

const COLUMNS = [{}, { shrinkTo: 6 }, {}, { shrinkTo: 13 }, { shrinkTo: 10 }, { shrinkTo: 10 }];

function cells({ by, event, type, state, action }: BlameRow, style: Style): readonly Cell[] {
  const who =
    by === undefined
      ? ["-", "", ""]
      : [{ text: renderId(by.compaction), paint: style.id }, by.author, renderTime(by.timestamp)];
  const done = action ?? { text: state === "internal" ? "not sent" : "shown", paint: style.faint };
  return [...who, renderId(event), type, done];
}

function details({ by, sees, next, state }: BlameRow, style: Style): readonly SafeText[] {
  if (by === undefined) return [];
  const place =
    sees === undefined
      ? state === "hidden"
        ? [safe`The model sees nothing in its place.`]
        : []
      : [SEES_INSTEAD, ...indentText(sees)];
  const after = next === undefined ? safe`shown as it is` : safe`decided by ${style.id(forTerminalLine(next))}`;
  return [
    "",
    commitLine(by, style),
    ...place,
    "",
    safe`\`jpg revert ${renderId(by.compaction)}\` undoes it; the event is then ${after}.`,
  ];
}

function commitLine({ commit, subject }: BlameSource, style: Style): SafeText {
  return safe`${style.commit(shortCommit(commit))} ${forTerminalLine(subject)}`;
}
