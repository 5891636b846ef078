// With whom a store is shared, by its config file.
import { join } from "node:path";
import { readSharing } from "../../files/file-sharing.ts";
import { readFileIfThere } from "./ref-reader.ts";

/** `core.sharedRepository` of the store in a git dir; undefined where it does not stand, or no store is there yet. */
export async function sharingOf(gitDir: string): Promise<string | undefined> {
  return readSharing((await readFileIfThere(join(gitDir, "config"))) ?? "");
}
