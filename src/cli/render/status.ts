// What `jpg` alone prints without a terminal: the active conversation, what is new, and what to type next.
import type { ConversationFacts } from "../../app/conversation/tip-cache.ts";
import type { ExpiringSessions } from "../../app/overview/expiry.ts";
import type { StatusReport } from "../../app/overview/status.ts";
import { exampleAgent, resumingAgents } from "../../app/sessions/session-registry.ts";
import { DEFAULT_KEEP_LAST } from "../../core/conversation/bound-resolution.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/terminal.ts";
import { wrapProse } from "../frame/wrap.ts";
import { renderCount, renderRawAndView, renderSource } from "./quantity.ts";

/** Renders the active conversation, then a line for each possible next step. */
export function renderProjectStatus(report: StatusReport, { style, width }: Rendering): SafeText {
  const lines = [
    ...activeLines(report, style),
    ...newestLines(report, style),
    ...listLines(report, style),
    ...sessionLines(report, style),
    ...machineLines(report, style),
    safe`All commands: ${style.id(safe`jpg --help`)}`,
  ];
  return joinLines(lines.flatMap((line) => wrapProse(line, width)));
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

/** Suggests reading and continuing a conversation that `jpg compact` can shorten no further. */
function nextLines({ turns, compacted_to, agent }: ConversationFacts, style: Style): SafeText[] {
  if (compacted_to === undefined || compacted_to < turns - 1 - DEFAULT_KEEP_LAST)
    return [safe`Shorten what the model sees: ${style.id(safe`jpg compact`)}`];
  // What comes from no such agent has to be told where it goes.
  const isOwn = resumingAgents().some(({ name }) => name === agent);
  const resume = style.id(isOwn ? safe`jpg resume` : safe`jpg resume --with ${forTerminal(exampleAgent().name)}`);
  return [
    safe`See what the model no longer sees: ${style.id(safe`jpg diff --stat`)}`,
    safe`Continue: ${resume}, or ${style.id(safe`jpg chat`)}`,
  ];
}

/** Sessions that hooks import do not become active while another conversation is. */
function newestLines({ newest }: StatusReport, style: Style): SafeText[] {
  if (newest === undefined) return [];
  const { name: id, title } = newest;
  const name = forTerminalLine(id);
  return [safe`Newest, but not active: ${forTerminalLine(title)} (${style.id(safe`jpg use ${name}`)})`];
}

function listLines({ conversations }: StatusReport, style: Style): SafeText[] {
  if (conversations < 2) return [];
  return [safe`${renderCount(conversations, "conversation")} here: ${style.id(safe`jpg ls`)}`];
}

/** Whoever finds nothing here may be in another project's folder. */
function machineLines({ conversations }: StatusReport, style: Style): SafeText[] {
  return conversations > 0 ? [] : [safe`All projects and agents of this machine: ${style.id(safe`jpg --all`)}`];
}

function sessionLines({ sessions, conversations, expiring = [] }: StatusReport, style: Style): SafeText[] {
  const bring = style.id(safe`jpg import`);
  const missing = sessions.filter((one) => one.new + one.grown > 0);
  if (missing.length === 0) {
    if (conversations > 0) return [];
    return [safe`Bring a session in: ${style.id(safe`jpg import FILE`)}`, safe`Begin one: ${style.id(safe`jpg chat`)}`];
  }
  const counts = missing.map((one) => {
    const parts = [
      ...(one.new > 0 ? [renderCount(one.new, `new ${one.agent} session`)] : []),
      ...(one.grown > 0
        ? [renderCount(one.grown, `${one.agent} session that has grown`, `${one.agent} sessions that have grown`)]
        : []),
    ];
    return joinSafe(parts, ", ");
  });
  return [safe`${joinSafe(counts, ", ")}: ${bring}`, ...expiring.map((one) => renderExpiring(one, bring))];
}

/** Renders which sessions their agent will delete; `keeps` = the command that keeps them. */
export function renderExpiring({ agent, sessions, days }: ExpiringSessions, keeps: SafeText): SafeText {
  const when = days === 0 ? safe`when it starts` : safe`in ${renderCount(days, "day")}`;
  const first = sessions === 1 ? when : safe`the first ${when}`;
  const comma = sessions === 1 ? "" : safe`,`;
  return safe`${renderCount(sessions, "session")} will be deleted by ${forTerminalLine(agent)}${comma} ${first}: ${keeps} keeps ${sessions === 1 ? safe`it` : safe`them`}`;
}
