// What `jpg resume` and `jpg undo --agent` say of a session that they wrote, a sentence a line.
import type { FirstCall, ResumeReport } from "../../app/import/resume.ts";
import { abbreviateId } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderUsd } from "../../core/model/money.ts";
import { forTerminalLine, type SafeText, safe, shellWord } from "../../core/safe-text.ts";

/** Renders which file was written and under which name, the way back, and what the first call costs. */
export function renderResumed(report: ResumeReport, { agent, home }: { agent: string; home: string }): SafeText[] {
  const { path, title, reused, original, first_call: first } = report;
  const place = forTerminalLine(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
  const [name, shown] = [forTerminalLine(agent), forTerminalLine(title)];
  const where = reused
    ? safe`${name} has it already, as "${shown}": ${place}`
    : safe`Wrote "${shown}" for ${name}: ${place}`;
  return [where, ...(original === undefined ? [] : [wayBack(original)]), renderFirstCall(first)];
}

function wayBack({ session, command }: NonNullable<ResumeReport["original"]>): SafeText {
  const words = forTerminalLine(command.map(shellWord).join(" "));
  return safe`Your session ${forTerminalLine(abbreviateId(session))} is untouched; the way back: ${words}`;
}

/** Renders what the first call sends; prices only where they are known. */
export function renderFirstCall({ tokens, usd, whole }: FirstCall): SafeText {
  const rest =
    whole === null ? "" : safe`; the whole conversation would be ${formatTokens(whole.tokens)}${priceAfter(whole.usd)}`;
  const listed = usd === null ? "" : safe` (list prices)`;
  return safe`Its first call writes ${formatTokens(tokens)} tokens to the cache anew${priceAfter(usd)}${rest}${listed}.`;
}

function priceAfter(usd: number | null): SafeText {
  return usd === null ? "" : safe`, ${renderUsd(usd)}`;
}
