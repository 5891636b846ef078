// Which conversations of a store are masked copies of which others, so that a copy can be gone on with. It stands beside the
// branches, where nothing sends it: from the digest of a secret a short one can be guessed.
import { join } from "node:path";
import * as z from "zod/mini";
import { parseJson } from "../../../core/parse-json.ts";
import { replaceFile } from "../../files/replace-file.ts";
import { readFileIfThere } from "./ref-reader.ts";

/** One JSON document; it may be gone at any time, and then the next copy is a new one. */
const RECORD = "jpg-redacted";

/** A conversation and what was made of it. */
export interface MaskedCopy {
  /** Ids of the conversation and of its copy. */
  readonly original: string;
  readonly copy: string;
  /** Digest of what was to be masked. */
  readonly request: string;
  /** By branch of the original: its tip, the branch of the copy, and the tip that was made of it. */
  readonly branches: Readonly<Record<string, { readonly from: string; readonly name: string; readonly to: string }>>;
  /** By fingerprint of a secret. */
  readonly masks: Readonly<Record<string, string>>;
}

const maskedCopy: z.ZodMiniType<MaskedCopy> = z.object({
  original: z.string(),
  copy: z.string(),
  request: z.string(),
  branches: z.record(z.string(), z.object({ from: z.string(), name: z.string(), to: z.string() })),
  masks: z.record(z.string(), z.string()),
});
const record: z.ZodMiniType<{ readonly copies: readonly MaskedCopy[] }> = z.object({ copies: z.array(maskedCopy) });

/** Lists the copies, oldest first. */
export async function readMaskedCopies(gitDir: string): Promise<readonly MaskedCopy[]> {
  return parseJson((await readFileIfThere(join(gitDir, RECORD))) ?? "", record)?.copies ?? [];
}

/** Keeps a copy in mind, in place of what was known of one of that name. */
export async function recordMaskedCopy(gitDir: string, copy: MaskedCopy): Promise<void> {
  const others = (await readMaskedCopies(gitDir)).filter((one) => one.copy !== copy.copy);
  await write(gitDir, [...others, copy]);
}

/** Forgets all that is known of conversations, as originals or as copies. */
export async function forgetMaskedCopies(gitDir: string, conversations: ReadonlySet<string>): Promise<void> {
  const copies = await readMaskedCopies(gitDir);
  const left = copies.filter(({ original, copy }) => !conversations.has(original) && !conversations.has(copy));
  if (left.length < copies.length) await write(gitDir, left);
}

function write(gitDir: string, copies: readonly MaskedCopy[]): Promise<void> {
  return replaceFile(join(gitDir, RECORD), `${JSON.stringify({ copies })}\n`);
}
