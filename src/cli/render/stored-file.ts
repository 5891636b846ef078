// Files of a store as git's diffs show them (`jpg textconv`): plain text of 80 columns, the same on every machine. A
// compaction is shown completely: fields without words of their own follow as JSON.
import type { StoredEvent, StoredFile } from "../../app/look/textconv.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { CONTENT_TYPES, mapPolicies } from "../../core/conversation/contents/content-types.ts";
import { describeHalves } from "../../core/conversation/contents/tool-calls.ts";
import { describePolicies } from "../../core/conversation/policy.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { createStyle, unpainted } from "../frame/terminal.ts";
import { renderLoss } from "./loss.ts";
import { wrapSpans } from "./markdown-blocks.ts";

/** 80 columns, less the sign that a diff puts before each line. */
const WIDTH = 79;
const INDENT = "    ";
const LINE_ENDS = /\r\n|[\n\u2028\u2029]/;

/** Renders a file, ended by a line feed; other kinds of files stay as they are, with unsafe characters made visible. */
export function renderStoredFile(file: StoredFile): SafeText {
  switch (file.kind) {
    case "compaction":
      return ended(compactionLines(file.compaction));
    case "turn":
      return ended(file.events.flatMap(eventLines));
    case "record":
      return ended(recordLines(file.fields));
    default:
      return forTerminal(file.text);
  }
}

function ended(lines: readonly SafeText[]): SafeText {
  return safe`${joinLines(lines)}\n`;
}

/** Keeps the lines of an event's text, however long: they are what was said. */
function eventLines({ id, timestamp, title, lines }: StoredEvent, at: number): SafeText[] {
  const heading = safe`${forTerminalLine(title)}  ${forTerminalLine(timestamp)}  ${forTerminalLine(id)}`;
  const text = lines.map((line) => (line === "" ? "" : safe`${INDENT}${forTerminal(line)}`));
  return [...(at === 0 ? [] : ([""] as const)), heading, ...text];
}

function recordLines(fields: Readonly<Record<string, unknown>>): SafeText[] {
  const { type, ...others } = fields;
  return [forTerminalLine(String(type)), ...fieldLines(others).flatMap((line) => wrapped(line, ""))];
}

/** Fields that the functions below render in words. */
const WORDED: ReadonlySet<string> = new Set([
  ...["type", "id", "timestamp", "from_turn", "to_turn", "from_event", "to_event", "profile", "source", "strategy"],
  ...["summary", "receipt", "tool_overrides", "turns", "stats", ...CONTENT_TYPES.map(({ content }) => content)],
]);

function compactionLines(compaction: Compaction): SafeText[] {
  const { id, timestamp, from_turn, to_turn, from_event, to_event, summary, receipt, stats } = compaction;
  const tokens = stats?.tokens;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["made", timestamp],
    ["source", compaction.source],
    ["profile", compaction.profile],
    ["strategies", compaction.strategy?.join(", ")],
    ["from event", from_event],
    ["up to event", to_event],
    ["tokens of the view", tokens === undefined ? undefined : `${tokens.before} -> ${tokens.after}`],
    ["tools pruned", compaction.tools?.names.join(", ")],
  ];
  const others = Object.fromEntries(Object.entries(compaction).filter(([key]) => !WORDED.has(key)));
  const { tokens: _tokens, ...counts } = stats ?? {};
  return [
    safe`compaction ${forTerminalLine(id)}`,
    ...wrapped(`turns ${from_turn}..${to_turn}: ${describePolicies(compaction)}`, ""),
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : wrapped(`${name}: ${value}`, ""))),
    ...policyLines(compaction),
    ...(summary === undefined ? [] : summaryLines(summary)),
    ...(receipt === undefined
      ? []
      : section(safe`loss receipt:`, renderLoss(receipt, { style: createStyle(false), width: WIDTH }))),
    ...fieldsSection(safe`counts:`, counts),
    ...fieldsSection(safe`besides:`, others),
  ];
}

function policyLines(compaction: Compaction): SafeText[] {
  const { tool_overrides, turns, tools: _told, ...policies } = compaction;
  const hints = Object.entries(tool_overrides ?? {}).map(([tool, hint]) => `hint for ${tool}: ${describeHalves(hint)}`);
  const told = mapPolicies(
    policies,
    (type, policy) => type.lines?.(policy) ?? [`${type.content}: ${type.brief(policy)}`],
  );
  const lines = [...(turns === undefined ? [] : [`turns: ${turns}`]), ...told.flat(), ...hints];
  return section(
    safe`policies:`,
    lines.flatMap((line) => wrapped(line, INDENT)),
  );
}

function summaryLines(summary: NonNullable<Compaction["summary"]>): SafeText[] {
  const { summary: text, ...others } = summary;
  return [
    ...section(
      safe`summary:`,
      text.split(LINE_ENDS).flatMap((line) => rows(forTerminal(line), INDENT)),
    ),
    ...fieldsSection(safe`of the summary:`, others),
  ];
}

function fieldsSection(heading: SafeText, fields: object): SafeText[] {
  return section(
    heading,
    fieldLines(fields).flatMap((line) => wrapped(line, INDENT)),
  );
}

function fieldLines(fields: object): readonly string[] {
  return Object.entries(fields).map(
    ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
}

function section(heading: SafeText, lines: readonly SafeText[]): SafeText[] {
  return lines.length === 0 ? [] : ["", heading, ...lines];
}

/** Wraps a line into rows of 80 columns. Later rows are indented, so that none can pass for a line of jpg's own. */
function wrapped(line: string, indent: "" | typeof INDENT): SafeText[] {
  return rows(forTerminalLine(line), indent).map((row, at) => (at === 0 ? row : safe`  ${row}`));
}

function rows(line: SafeText, indent: "" | typeof INDENT): SafeText[] {
  const found = wrapSpans([{ text: line, paint: unpainted }], WIDTH - 2 - indent.length);
  return found.map((row) => (row === "" ? "" : safe`${indent}${row}`));
}
