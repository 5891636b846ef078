// What was masked: a secret a line, as far as it may be shown, and what to do now.
import type { RedactReport } from "../../app/redact/redact.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderTable } from "../frame/table.ts";
import { renderBytes, renderCount } from "./render-quantity.ts";

/** The secrets with their masks, and what became of the conversation. */
export function renderRedact(report: RedactReport, isDryRun: boolean, { style, width }: Rendering): SafeText {
  const { conversation, redacted, secrets, left_out: left } = report;
  const name = forTerminalLine(conversation);
  if (secrets.length === 0) return safe`Nothing to mask in ${name}: no secret was found.`;
  const cells = secrets.map(({ mask, sample, count, path, turn }) => [
    mask,
    sample,
    count === 1 ? "" : `${count} times`,
    turn === undefined ? path : `turn ${turn}`,
  ]);
  const columns = [{ paint: style.id }, {}, {}, { shrinkTo: 12, paint: style.faint }];
  const sources =
    left.sources === 0 ? "" : safe`; ${renderCount(left.sources, "source file")} (${renderBytes(left.bytes)}) left out`;
  const end = isDryRun
    ? safe`Would mask ${renderCount(secrets.length, "secret")} in a copy of ${name}${sources}.`
    : safe`Masked ${renderCount(secrets.length, "secret")} in ${forTerminalLine(redacted ?? "")}, a copy of ${name}${sources}.`;
  return joinLines([...renderTable(cells, { columns, width, indent: "  " }), end]);
}

/** What the copy does not change, and what to do about it. */
export function renderRedactAdvice({ conversation, redacted, branches, seen_on: seen }: RedactReport): SafeText {
  const [name, copy] = [forTerminalLine(conversation), forTerminalLine(redacted ?? "")];
  const others = branches.length === 1 ? "" : safe` (${renderCount(branches.length, "fork")})`;
  return joinLines([
    safe`${name} is unchanged, and local now: nothing of it is pushed.`,
    safe`\`jpg push ${copy}\` sends the copy${others}.`,
    ...(seen.length === 0
      ? []
      : [safe`The original was seen on ${joinSafe(seen.map(forTerminalLine), ", ")}: what is there keeps the secret.`]),
    safe`The secret is still in the original, in clones and remotes that have it, in the trash`,
    safe`and in the agent's own files. Revoke it where it was issued. To remove the original`,
    safe`from this store for good: \`jpg rm ${name}\`, then \`jpg rm --purge ${name}\`.`,
  ]);
}
