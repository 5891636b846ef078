// What is here, and the command that comes next for each of it.
import type { ConversationFacts } from "../../app/look/list.ts";
import type { StatusReport } from "../../app/look/status.ts";
import { exampleAgent } from "../../app/sessions/session-registry.ts";
import { DEFAULT_KEEP_LAST } from "../../core/conversation/bound-resolution.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { renderCount, renderRawAndView, renderSource } from "./render-quantity.ts";

/** Renders what is here: the active conversation, then a line for each thing that can be done. */
export function renderWhatIsHere(report: StatusReport, { style }: Rendering): SafeText {
  return joinLines([
    ...activeLines(report, style),
    ...listLines(report, style),
    ...sessionLines(report, style),
    safe`All commands: ${style.id(safe`jpg --help`)}`,
  ]);
}

function activeLines({ active, conversations, elsewhere }: StatusReport, style: Style): SafeText[] {
  if (elsewhere !== undefined) return [forTerminal(elsewhere)];
  if (active === null && conversations === 0) return [safe`No conversations here yet.`];
  if (active === null) return [safe`No conversation is checked out here: ${style.id(safe`jpg use ID`)}`];
  const { branch, title, turns, tokens, turns_elsewhere, tokens_source, compactions } = active;
  const size = safe`${renderRawAndView(tokens, turns_elsewhere)} tokens${renderSource(tokens_source)}`;
  return [
    safe`On ${style.heading(forTerminalLine(branch))}: ${forTerminalLine(title)}`,
    safe`${renderCount(turns, "turn")}, ${size}, ${renderCount(compactions, "compaction")}`,
    ...nextLines(active, style),
  ];
}

/** What is compacted as far as `jpg compact` goes by itself is read and continued. */
function nextLines({ turns, compacted_to }: ConversationFacts, style: Style): SafeText[] {
  if (compacted_to === undefined || compacted_to < turns - 1 - DEFAULT_KEEP_LAST)
    return [safe`Shorten what the model sees: ${style.id(safe`jpg compact`)}`];
  const resume = style.id(safe`jpg resume --with ${forTerminal(exampleAgent().name)}`);
  return [
    safe`See what the model no longer sees: ${style.id(safe`jpg diff`)}`,
    safe`Continue: ${resume}, or ${style.id(safe`jpg chat`)}`,
  ];
}

function listLines({ conversations }: StatusReport, style: Style): SafeText[] {
  if (conversations < 2) return [];
  return [safe`${renderCount(conversations, "conversation")} here: ${style.id(safe`jpg ls`)}`];
}

function sessionLines({ sessions, conversations }: StatusReport, style: Style): SafeText[] {
  const bring = style.id(safe`jpg import`);
  if (sessions.length === 0) {
    if (conversations > 0) return [];
    return [safe`Bring a session in: ${style.id(safe`jpg import FILE`)}`, safe`Begin one: ${style.id(safe`jpg chat`)}`];
  }
  const counts = joinSafe(
    sessions.map(({ agent, count }) => renderCount(count, `${agent} session`)),
    ", ",
  );
  return [safe`${counts} here: ${bring}${conversations === 0 ? "" : " brings in what is new"}`];
}
