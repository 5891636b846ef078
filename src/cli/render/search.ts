// `jpg search`: a line for each hit, with what matched in sight.
import type { SearchHit } from "../../app/look/search.ts";
import { abbreviateId } from "../../core/conversation/name.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { displayWidth, fitWidth, type Rendering } from "../frame/terminal.ts";

/** Who said it, as `--in` names it. */
const WHO: Readonly<Partial<Record<SearchHit["type"], string>>> = {
  chat_request: "user",
  chat_response: "assistant",
  tool_call_request: "tool",
  tool_call_response: "tool",
};

/** Columns of the text before the match that stay. */
const LEAST_BEFORE = 12;
const LEAST_TEXT = 20;

/** Renders hits, in the order given: one line each; a heading wherever the branch changes. */
export function renderSearch(hits: readonly SearchHit[], rendering: Rendering): SafeText {
  const places = hits.map(({ turn, event }) => safe`${turn}:${forTerminalLine(abbreviateId(event))}`);
  const columns = [
    Math.max(0, ...places.map((place) => place.length)),
    Math.max(0, ...hits.map(({ type }) => (WHO[type] ?? type).length)),
    Math.max(0, ...hits.map(({ state }) => (state === "shown" ? 0 : state.length))),
  ] as const;
  const { style } = rendering;
  const lines = hits.flatMap((hit, at): readonly SafeText[] => {
    const line = renderHit(hit, places[at] ?? "", columns, rendering);
    if (hit.branch === hits[at - 1]?.branch) return [line];
    return [...(at === 0 ? [] : ["" as const]), style.heading(forTerminalLine(hit.branch)), line];
  });
  return joinLines(lines);
}

function renderHit(
  { type, state, alike, ...matched }: SearchHit,
  place: SafeText,
  [ofPlace, ofWho, ofState]: readonly [number, number, number],
  { style, width }: Rendering,
): SafeText {
  const padded = (text: string, columns: number): SafeText => forTerminal(" ".repeat(columns - text.length));
  const who = forTerminalLine(WHO[type] ?? type);
  const how = state === "shown" ? ("" as const) : forTerminalLine(state);
  const stateCell = ofState === 0 ? "" : safe`  ${style.caution(how)}${padded(how, ofState)}`;
  const more = alike === undefined ? "" : safe` (+${alike} alike)`;
  const used = 2 + ofPlace + 2 + ofWho + (ofState === 0 ? 0 : 2 + ofState) + 2 + more.length;
  const found = renderMatch(matched, Math.max(LEAST_TEXT, width - used), style.added);
  return safe`  ${style.id(place)}${padded(place, ofPlace)}  ${style.faint(who)}${padded(who, ofWho)}${stateCell}  ${found}${style.faint(more)}`;
}

/** Cuts a line to some columns, the match in sight. Blanks in it stay, as they separate its pieces. */
function renderMatch(
  { line, from, to }: Pick<SearchHit, "line" | "from" | "to">,
  room: number,
  paint: (text: SafeText) => SafeText,
): SafeText {
  const [before, match, after] = [
    forTerminal(line.slice(0, from).trimStart()),
    forTerminal(line.slice(from, to)),
    forTerminal(line.slice(to)),
  ].map((text) => forTerminal(text.replaceAll("\t", " "))) as [SafeText, SafeText, SafeText];
  if (displayWidth(safe`${before}${match}${after}`) <= room) return safe`${before}${paint(match)}${after}`;
  // What follows the match gets what is left; what comes before it gives way first.
  const most = Math.max(LEAST_BEFORE, room - displayWidth(match) - displayWidth(after));
  const front = displayWidth(before) <= most ? before : safe`…${lastColumns(before, most - 1)}`;
  const shown = fitWidth(match, Math.max(1, room - displayWidth(front)));
  const rest = room - displayWidth(front) - displayWidth(shown);
  return safe`${front}${paint(shown)}${rest < 1 || after === "" ? "" : fitWidth(after, rest)}`;
}

function lastColumns(text: SafeText, columns: number): SafeText {
  let start = Math.max(0, text.length - columns);
  while (displayWidth(forTerminal(text.slice(start))) > columns) start += 1;
  return forTerminal(text.slice(start).replace(/^[\udc00-\udfff]/, ""));
}
