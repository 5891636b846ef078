// What is known of masked copies stands beside the branches, where nothing sends it: from the digest of a secret a short one can be
// guessed.
import { join } from "node:path";
import * as z from "zod/mini";
import { parseJson } from "../../../core/json.ts";
import { readFileIfThere } from "../../files/read-file.ts";
import { replaceFile } from "../../files/replace-file.ts";
import type { MaskedCopies, MaskedCopy } from "../../masked-copies.ts";

/** One JSON document; it may be gone at any time, and then the next copy is a new one. */
const RECORD = "jpg-redacted";

const maskedCopy: z.ZodMiniType<MaskedCopy> = z.object({
  original: z.string(),
  copy: z.string(),
  request: z.string(),
  branches: z.record(z.string(), z.object({ from: z.string(), name: z.string(), to: z.string() })),
  masks: z.record(z.string(), z.string()),
});
const record: z.ZodMiniType<{ readonly copies: readonly MaskedCopy[] }> = z.object({ copies: z.array(maskedCopy) });

/** Gives what the store at a git dir knows of its masked copies. */
export function openMaskedCopies(gitDir: string): MaskedCopies {
  const path = join(gitDir, RECORD);
  const list = async (): Promise<readonly MaskedCopy[]> =>
    parseJson((await readFileIfThere(path)) ?? "", record)?.copies ?? [];
  const write = (copies: readonly MaskedCopy[]): Promise<void> => replaceFile(path, `${JSON.stringify({ copies })}\n`);
  return {
    list,
    async record(copy) {
      await write([...(await list()).filter((one) => one.copy !== copy.copy), copy]);
    },
    async forget(conversations) {
      const copies = await list();
      const left = copies.filter(({ original, copy }) => !conversations.has(original) && !conversations.has(copy));
      if (left.length < copies.length) await write(left);
    },
  };
}
