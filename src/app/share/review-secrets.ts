// A review that is printed to be sent is looked through first, as what is pushed is: whole, also where the review cuts a text.
import { conversationOf } from "../../core/conversation-name.ts";
import { scanSources } from "../secrets/scan-source.ts";
import { loadSecretScanner } from "../secrets/secret-scanner.ts";
import { createBufferSource } from "../sessions/buffer-source.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { refusedOf, secretsError } from "./refused-secrets.ts";
import type { ReviewReport } from "./review.ts";

/** Refuses a review in which secrets stand; `allow` = rules that may, this once. Throws `secrets_found`. */
export async function checkReview(
  workspace: Workspace,
  report: ReviewReport,
  allow: readonly string[] = [],
): Promise<void> {
  const { config } = await workspace.config();
  const { turns, compactions, ...rest } = report;
  const parts: readonly (readonly [place: string, turn: number | undefined, value: unknown])[] = [
    ["names and settings", undefined, rest],
    ...turns.map((turn) => ["", turn.turn, turn] as const),
    ...compactions.map((one) => [`compaction ${one.compaction.id}`, undefined, one] as const),
  ];
  const found = await scanSources(
    await loadSecretScanner(),
    parts.map((part) => ({ name: part, lines: createBufferSource(Buffer.from(JSON.stringify(part[2]))) })),
  );
  const secrets = found.map(({ in: [path, turn], ...finding }) => ({
    path,
    ...(turn === undefined ? {} : { turn }),
    ...finding,
  }));
  const refused = refusedOf(secrets, { rules: allow, secrets: config.secrets.allow });
  if (refused.length > 0)
    throw secretsError(refused, { command: "jpg review --markdown", of: [conversationOf(report.fork)] });
}
