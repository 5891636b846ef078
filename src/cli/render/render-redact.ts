// What was masked: a secret a line, as far as it may be shown, and what to do now.
import type { RedactReport } from "../../app/share/redact.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderTable } from "../frame/table.ts";
import { renderBytes, renderCount } from "./render-quantity.ts";
import { renderTaken } from "./render-sharing.ts";

/** The secrets with their masks, and what became of the conversation. */
export function renderRedact(report: RedactReport, isDryRun: boolean, rendering: Rendering): SafeText {
  const { conversation, redacted, status, secrets, changes } = report;
  const [name, copy] = [forTerminalLine(conversation), forTerminalLine(redacted ?? "")];
  if (status === "nothing") return safe`Nothing to mask in ${name}: no secret was found.`;
  if (status === "unchanged") return safe`${name} is already masked as ${copy}; nothing is new since.`;
  const rows = renderTable(secrets.map(secretCells), {
    columns: [{ paint: rendering.style.id }, {}, {}, { shrinkTo: 12, paint: rendering.style.faint }],
    width: rendering.width,
    indent: "  ",
  });
  if (status === "created") return joinLines([...rows, renderCreated(report, isDryRun)]);
  const masked = renderCount(secrets.length, "secret");
  return joinLines([
    ...rows,
    ...renderTaken(changes, rendering),
    isDryRun
      ? safe`Would bring ${copy}, the copy of ${name}, up to date, with ${masked} masked.`
      : safe`Brought ${copy}, the copy of ${name}, up to date, with ${masked} masked.`,
  ]);
}

function secretCells({ mask, sample, count, path, turn }: RedactReport["secrets"][number]): string[] {
  return [mask, sample, count === 1 ? "" : `${count} times`, turn === undefined ? path : `turn ${turn}`];
}

function renderCreated({ conversation, redacted, secrets, left_out: left }: RedactReport, isDryRun: boolean): SafeText {
  const name = forTerminalLine(conversation);
  const masked = renderCount(secrets.length, "secret");
  const sources =
    left.sources === 0 ? "" : safe`; ${renderCount(left.sources, "source file")} (${renderBytes(left.bytes)}) left out`;
  return isDryRun
    ? safe`Would mask ${masked} in a copy of ${name}${sources}.`
    : safe`Masked ${masked} in ${forTerminalLine(redacted ?? "")}, a copy of ${name}${sources}.`;
}

/** What the copy does not change, and what to do about it. */
export function renderRedactAdvice(report: RedactReport): SafeText {
  const { conversation, redacted, status, branches, earlier, seen_on: seen } = report;
  const [name, copy] = [forTerminalLine(conversation), forTerminalLine(redacted ?? "")];
  if (status !== "created") return safe`\`jpg push ${copy}\` sends what the remote does not have yet.`;
  const others = branches.length === 1 ? "" : safe` (${renderCount(branches.length, "fork")})`;
  return joinLines([
    ...(earlier === null
      ? []
      : [safe`It masks other texts than ${forTerminalLine(earlier)}, the earlier copy, which stays.`]),
    safe`${name} is unchanged, and local now: nothing of it is pushed.`,
    safe`\`jpg push ${copy}\` sends the copy${others}.`,
    ...(seen.length === 0
      ? []
      : [safe`The original was seen on ${joinSafe(seen.map(forTerminalLine), ", ")}: what is there keeps the secret.`]),
    safe`The secret is still in the original, in clones and remotes that have it, in the trash`,
    safe`and in the agent's own files. Revoke it where it was issued. To remove the original`,
    safe`from this store for good: \`jpg purge ${name}\`.`,
  ]);
}
