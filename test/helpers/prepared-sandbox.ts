// Sandboxes with an imported conversation, made by copying one that was imported before: tests that need their own cost a
// copy of some files each, not an import.
import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll } from "vitest";
import { createImportedSandbox, createSandbox, type RunOptions, type Sandbox } from "./run-jpg.ts";
import { copyStore } from "./temp-repository.ts";

/** A sandbox whose project holds one conversation. */
export type ImportedSandbox = Sandbox & { readonly conversation: string };

const imported = new Map<number, Promise<ImportedSandbox>>();
const others = new Map<() => Promise<Sandbox>, Promise<Sandbox>>();

afterAll(async () => {
  for (const templates of [imported, others]) {
    for (const template of templates.values()) (await template).remove();
    templates.clear();
  }
});

/** Gives a sandbox of its own whose project holds one imported conversation of `turns` turns. */
export async function copyImportedSandbox(
  turns = 6,
  whole: Pick<RunOptions, "process"> = {},
): Promise<ImportedSandbox> {
  const made = imported.get(turns) ?? createImportedSandbox(turns);
  imported.set(turns, made);
  const template = await made;
  return { ...copySandbox(template, whole), conversation: template.conversation };
}

/** Gives a sandbox of its own that is as `make` makes one; the file's tests make it once. */
export async function copyMadeSandbox(make: () => Promise<Sandbox>): Promise<Sandbox> {
  const made = others.get(make) ?? make();
  others.set(make, made);
  return copySandbox(await made);
}

function copySandbox(template: Sandbox, whole: Pick<RunOptions, "process"> = {}): Sandbox {
  const sandbox = createSandbox(whole);
  rmSync(sandbox.home, { recursive: true });
  // The store's settings name its own hooks, and a remote beside it, by their absolute paths.
  copyStore(template.root, sandbox.root, { renamed: [relative(sandbox.root, join(sandbox.store, ".git", "config"))] });
  return sandbox;
}
