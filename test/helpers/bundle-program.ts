// TypeScript that a test runs as a process of its own, as one file of JavaScript: a loader that translates module by module
// costs each process half a second, a bundle is made once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";

export interface BundledProgram {
  /** The file to run, absolute. */
  readonly path: string;
  remove(): void;
}

/** Bundles a module and all that it imports into a temporary folder. `entry` = its absolute path. */
export async function bundleProgram(entry: string): Promise<BundledProgram> {
  const folder = mkdtempSync(join(tmpdir(), "jpg-program-"));
  const bundle = await rolldown({ input: { program: entry }, platform: "node" });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
  return { path: join(folder, "program.mjs"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
