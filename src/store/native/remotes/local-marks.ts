// Conversations that never leave a store. The marks stand in its git configuration, which is sent nowhere, and are of whole
// conversations, so that a fork is born with its own.
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { type Repository, runCommand, tryCommand } from "../git/git-command.ts";
import { runPorcelain } from "../porcelain/run-porcelain.ts";
import { appendConfig, formatConfig } from "../refs/append-config.ts";

const KEY = "jpg.local";

/** The key as a configuration may have it written; wherever else the word stands, git is asked what it is. */
const WRITTEN = /(?:^|[\s\]])local(?![\w-])/im;

/** Ids of the conversations that are marked. Git is not asked where the configuration has no such key. */
export async function readLocalMarks(repository: Repository): Promise<ReadonlySet<string>> {
  const config = await readFileIfThere(join(repository.gitDir, "config"));
  if (config !== null && !WRITTEN.test(config)) return new Set();
  const { stdout } = await tryCommand(repository, { args: ["config", "--local", "-z", "--get-all", KEY] });
  return new Set(
    stdout
      .toString()
      .split("\0")
      .filter((id) => id !== ""),
  );
}

/** Marks a conversation, or takes its mark away; nothing happens when it is so already. */
export async function markLocal(repository: Repository, conversation: string, isLocal: boolean): Promise<void> {
  const isMarked = (await readLocalMarks(repository)).has(conversation);
  if (isMarked === isLocal) return;
  // Waits for whoever writes the settings at the same time; git would not.
  if (isLocal) return await appendConfig(repository.gitDir, () => formatConfig(new Map([[KEY, conversation]])));
  const change = ["--unset-all", "--fixed-value", KEY, conversation];
  await runCommand(repository, { args: ["config", "--local", ...change] }, runPorcelain);
}
