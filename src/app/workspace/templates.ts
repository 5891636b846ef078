// The one reader of what stands beside the program: templates/ (prompts, texts, the style of pages) and the script of pages, which
// the build makes.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Reads a template by its file name. */
export function readTemplate(name: string): Promise<string> {
  return readBeside(join("templates", name));
}

/** Reads the script of pages. */
export function readPageScript(): Promise<string> {
  return readBeside(join("dist", "browser", "page.js"));
}

async function readBeside(path: string): Promise<string> {
  let folder = dirname(fileURLToPath(import.meta.url));
  // The bundle lies at another depth than the source: both stand beside package.json.
  for (;;) {
    try {
      return await readFile(join(folder, path), "utf8");
    } catch (error) {
      const parent = dirname(folder);
      if (parent === folder) throw error;
      folder = parent;
    }
  }
}
