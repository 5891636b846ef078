// What `jpg resume` and `jpg undo --agent` say of a session that they wrote, a sentence a line.
import type { FirstCall, ResumeReport } from "../../app/import/resume.ts";
import type { AgentUndoPlan } from "../../app/manage/undo-agent.ts";
import { abbreviateId } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderUsd } from "../../core/model/money.ts";
import { forTerminalLine, type SafeText, safe, shellWord } from "../../core/safe-text.ts";
import { renderLostTurns } from "./damage.ts";
import { renderPath, renderRange, renderTokens } from "./quantity.ts";

/** Renders which file was written and under which name, the way back, and unless `isPriced`, said before, what the first call costs. */
export function renderResumed(
  report: ResumeReport,
  {
    agent,
    id,
    home,
    isPriced,
  }: {
    readonly agent: string;
    /** The conversation's short name. */
    readonly id: string;
    readonly home: string;
    readonly isPriced: boolean;
  },
): SafeText[] {
  const { path, title, reused, original, first_call: first } = report;
  const place = renderPath(path, home);
  const [name, shown] = [forTerminalLine(agent), forTerminalLine(title)];
  const lost = notSeen(report, name, id);
  if (report.is_original)
    return [safe`Nothing to write: ${name}'s own session holds exactly this view: ${place}`, ...lost];
  const where = reused
    ? safe`${name} has it already, as "${shown}": ${place}`
    : safe`Wrote "${shown}" for ${name}: ${place}`;
  return [
    where,
    ...lost,
    ...(original === undefined ? [] : [wayBack(original, name)]),
    ...(isPriced ? [] : [renderFirstCall(first)]),
  ];
}

/** Says which turns the view lacks only because the agent's file is damaged, and what hands them back. */
function notSeen({ unreached }: ResumeReport, agent: SafeText, id: string): SafeText[] {
  if (unreached === undefined) return [];
  return [
    safe`${agent} will not see ${renderLostTurns(unreached)} (broken chain): \`jpg resume ${forTerminalLine(shellWord(id))} --repair --all\` hands them back.`,
  ];
}

function wayBack({ session, command, path }: NonNullable<ResumeReport["original"]>, agent: SafeText): SafeText {
  if (path === null)
    return safe`Your session ${forTerminalLine(abbreviateId(session))} is not where ${agent} looks for it; jpg has its bytes: \`jpg export --original -o FILE\``;
  const words = forTerminalLine(command.map(shellWord).join(" "));
  return safe`Your session ${forTerminalLine(abbreviateId(session))} is untouched; the way back: ${words}`;
}

/** Renders what `undo --agent` is about to do, and what the first call then costs; `id` = the conversation as it was named, if it was. */
export function renderAgentUndo(
  { title, compaction, now, first_call: first }: AgentUndoPlan,
  { agent, id, isSmaller }: { readonly agent: string; readonly id: string | undefined; readonly isSmaller: boolean },
): SafeText[] {
  const turns = renderRange(compaction.from_turn, compaction.to_turn);
  const change = renderTokens({ before: now, after: first.tokens });
  const after = isSmaller ? safe`without it, made smaller by jpg` : safe`without it`;
  const name = forTerminalLine(agent);
  const words = ["jpg", "undo", "--agent", ...(id === undefined ? [] : [id]), "-s", "auto"];
  const smaller = safe`: \`${forTerminalLine(words.map(shellWord).join(" "))}\` makes it smaller first`;
  return [
    safe`${name} compacted turns ${turns} of "${forTerminalLine(title)}"; ${after}: ${change} tokens.`,
    renderFirstCall(first),
    ...compactsAgain(first, name).map((again) => safe`${again}${isSmaller ? "" : smaller}.`),
  ];
}

/** Whether the first call would not fit into the model's window. */
export function isOverfull({ window }: FirstCall): boolean {
  return (window ?? 0) >= 1;
}

function compactsAgain(first: FirstCall, name: SafeText): SafeText[] {
  if (isOverfull(first)) return [safe`That is more than it holds, so ${name} compacts again`];
  return (first.window ?? 0) < COMPACTS_FROM ? [] : [safe`${name} may soon compact again`];
}

/** Share of the window from which an agent is likely to compact by itself. */
const COMPACTS_FROM = 0.7;

/** Renders what the first call sends; prices only where they are known. */
function renderFirstCall({ tokens, usd, window, whole }: FirstCall): SafeText {
  const share = window === null ? "" : safe` (${Math.round(window * 100)} % of the window)`;
  const rest =
    whole === null ? "" : safe`; the whole conversation would be ${formatTokens(whole.tokens)}${priceAfter(whole.usd)}`;
  const listed = usd === null ? "" : safe` (list prices)`;
  return safe`Its first call writes ${formatTokens(tokens)} tokens${share} to the cache anew${priceAfter(usd)}${rest}${listed}.`;
}

function priceAfter(usd: number | null): SafeText {
  return usd === null ? "" : safe`, ${renderUsd(usd)}`;
}
