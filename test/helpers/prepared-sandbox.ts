// Sandboxes with an imported conversation, made by copying one that was imported before: tests that need their own cost a
// copy of some files each, not an import.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createImportedSandbox, createSandbox, type RunOptions, type Sandbox } from "./run-jpg.ts";

/** A sandbox whose project holds one conversation. */
export type ImportedSandbox = Sandbox & { readonly conversation: string };

const templates = new Map<number, Promise<ImportedSandbox>>();

afterAll(async () => {
  for (const template of templates.values()) (await template).remove();
  templates.clear();
});

/** Gives a sandbox of its own whose project holds one imported conversation of `turns` turns. */
export async function copyImportedSandbox(
  turns = 6,
  whole: Pick<RunOptions, "process"> = {},
): Promise<ImportedSandbox> {
  const made = templates.get(turns) ?? createImportedSandbox(turns);
  templates.set(turns, made);
  const template = await made;
  const sandbox = createSandbox(whole);
  cpSync(template.root, sandbox.root, { recursive: true, verbatimSymlinks: true });
  // The store's settings name its own hooks by their absolute path.
  const config = join(sandbox.store, ".git", "config");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll(template.root, sandbox.root));
  return { ...sandbox, conversation: template.conversation };
}
