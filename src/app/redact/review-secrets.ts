// A review that is printed to be sent is looked through first, as what is pushed is: whole, also where the review cuts a text; and
// for the beginnings of secrets that stand in full only in what it does not quote.
import { conversationOf } from "../../core/conversation/name.ts";
import { createMasker, maskLine } from "../../core/secrets/mask.ts";
import { type LeavingSecret, secretsError } from "../share/refused-secrets.ts";
import type { ReviewReport } from "../share/review.ts";
import { reviewedPair } from "../share/reviewed-pair.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { findMasksInLines, type TextAtPath } from "./find-masks.ts";
import { masksIn } from "./mask-list.ts";
import { readSaidLines } from "./said-lines.ts";

/** A part of a review; `turn` = the turn that it is of, absent where it is of none. */
interface ReviewPart extends TextAtPath {
  readonly turn?: number;
}

/** Refuses a review of what `word` names in which secrets stand; `allow` = rules that may, this once. Throws `secrets_found`. */
export async function checkReview(
  workspace: Workspace,
  report: ReviewReport,
  { word, allow }: { readonly word: string | undefined; readonly allow: readonly string[] },
): Promise<void> {
  const { fork } = await reviewedPair(workspace, word);
  const { config } = await workspace.config();
  const parts = partsOf(report);
  const looked = async function* (): AsyncGenerator<TextAtPath> {
    yield* parts;
    yield* readSaidLines(workspace, fork);
  };
  const wanted = { rules: [], texts: [], allowed: config.secrets.allow, passing: allow };
  const { secrets, masks } = await findMasksInLines(workspace, looked(), wanted);
  const masker = createMasker(masks);
  const refused = parts.flatMap(({ path, turn, text }): readonly LeavingSecret[] => {
    const found = masksIn(maskLine(text, masker));
    return secrets.flatMap(({ mask, rule, sample, fingerprint }) => {
      const count = found.filter((one) => one === mask).length;
      const place = turn === undefined ? { path } : { path, turn };
      return count === 0 ? [] : [{ ...place, rule, line: 1, count, sample, fingerprint }];
    });
  });
  if (refused.length > 0)
    throw secretsError(refused, { command: "jpg review --markdown", of: [conversationOf(report.fork)] });
}

function partsOf({ turns, compactions, ...rest }: ReviewReport): readonly ReviewPart[] {
  return [
    { path: "names and settings", text: JSON.stringify(rest) },
    ...turns.map((turn) => ({ path: "", turn: turn.turn, text: JSON.stringify(turn) })),
    ...compactions.map((one) => ({ path: `compaction ${one.compaction.id}`, text: JSON.stringify(one) })),
  ];
}
