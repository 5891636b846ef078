// The one reader of templates/: prompts and texts, plain files beside the program.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Reads a template by its file name. */
export async function readTemplate(name: string): Promise<string> {
  let folder = dirname(fileURLToPath(import.meta.url));
  // The bundle lies at another depth than the source: templates/ stands beside package.json.
  for (;;) {
    try {
      return await readFile(join(folder, "templates", name), "utf8");
    } catch (error) {
      const parent = dirname(folder);
      if (parent === folder) throw error;
      folder = parent;
    }
  }
}
