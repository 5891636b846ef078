// Adds settings to a repository's config file, or takes them out, under git's own lock: one write for any number of them.
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryError } from "../../../core/errors.ts";
import { isAbandoned } from "../../files/abandoned.ts";
import { readFileIfThere } from "../../files/read-file.ts";

const LOCK_ATTEMPTS = 200;
const LOCK_WAIT_MS = 10;

/** Adds a text to the config file of a git dir, told from what stands there. Throws `config_locked`. */
export function appendConfig(gitDir: string, missingIn: (text: string) => string): Promise<void> {
  return rewriteConfig(gitDir, (text) => {
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    return text + separator + missingIn(text);
  });
}

/** Puts another text in the place of a git dir's config file. Throws `config_locked`. */
export async function rewriteConfig(gitDir: string, change: (text: string) => string): Promise<void> {
  const path = join(gitDir, "config");
  const lock = await takeLock(gitDir, `${path}.lock`);
  try {
    await lock.writeFile(change((await readFileIfThere(path)) ?? ""));
    await lock.close();
    await rename(`${path}.lock`, path);
  } catch (error) {
    await lock.close();
    await rm(`${path}.lock`, { force: true });
    throw error;
  }
}

/** Formats settings by their names, each section once, in the order in which they are first named. */
export function formatConfig(settings: ReadonlyMap<string, string>): string {
  const sections = new Map<string, string[]>();
  for (const [name, value] of settings) {
    const [, section = "", subsection, key = ""] = /^([^.]+)(?:\.(.*))?\.([^.]+)$/s.exec(name) ?? [];
    const head = subsection === undefined ? `[${section}]` : `[${section} "${quote(subsection)}"]`;
    sections.set(head, [...(sections.get(head) ?? []), `\t${key} = "${quote(value)}"`]);
  }
  return [...sections].map(([head, lines]) => `${[head, ...lines].join("\n")}\n`).join("");
}

function quote(text: string): string {
  return text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
}

async function takeLock(gitDir: string, path: string): ReturnType<typeof open> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    try {
      return await open(path, "wx");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (attempt === 0 && (await isAbandoned({ gitDir, cwd: gitDir }, path))) await rm(path, { force: true });
      await sleep(LOCK_WAIT_MS);
    }
  }
  throw repositoryError("config_locked", `Another process holds ${path}.`, {
    hints: ["Wait for it and run the command again.", `When no git runs, remove ${path}.`],
  });
}
