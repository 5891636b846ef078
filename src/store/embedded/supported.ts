// What only git reads: repositories whose objects or refs stand elsewhere than in the files that the engine knows. They are
// refused before anything is read, because what cannot be seen would count as gone.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { repositoryError } from "../../core/errors.ts";
import { wayToGit } from "../files/needs-git.ts";
import { readFileIfThere } from "../files/read-file.ts";
import { isFolder } from "../native/refs/ref-reader.ts";
import { isFalse, parseConfig } from "../refs/config-file.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** Extensions (gitrepository-layout(5)) that change nothing for who reads and writes objects and refs. */
const HARMLESS = ["noop", "preciousobjects", "worktreeconfig", "relativeworktrees"];

/** Refuses alternates, partial clones, reftable, SHA-256 and what is not known. Throws `engine_unsupported`. */
export async function requireSupported({
  root,
  gitDir,
  env,
}: Pick<EmbeddedRepository, "root" | "gitDir" | "env">): Promise<void> {
  const reason = await findReason(gitDir);
  if (reason === null) return;
  throw repositoryError("engine_unsupported", `The store ${root} ${reason}: only the git program reads such a store.`, {
    hints: [wayToGit(env)],
    data: { root, reason },
  });
}

async function findReason(gitDir: string): Promise<string | null> {
  const alternates = (await readFileIfThere(join(gitDir, "objects", "info", "alternates"))) ?? "";
  if (alternates.trim() !== "") return "takes objects from another repository (alternates)";
  if (isFolder(join(gitDir, "reftable"))) return "keeps its refs in a reftable";
  if (hasPromisedPacks(gitDir)) return PARTIAL;
  for (const { name, value } of parseConfig((await readFileIfThere(join(gitDir, "config"))) ?? "")) {
    if (/^remote\..*\.promisor$/s.test(name) && !isFalse(value)) return PARTIAL;
    const reason = reasonOf(name, value.toLowerCase());
    if (reason !== null) return reason;
  }
  return null;
}

const PARTIAL = "is a partial clone (a remote has the rest)";

function reasonOf(name: string, value: string): string | null {
  if (name === "core.repositoryformatversion" && Number(value) > 1) return `has the repository format ${value}`;
  const extension = /^extensions\.(.*)$/s.exec(name)?.[1];
  if (extension === undefined || HARMLESS.includes(extension)) return null;
  if (extension === "objectformat") return value === "sha1" ? null : `names objects by ${value.toUpperCase()}`;
  if (extension === "refstorage") return value === "files" ? null : `keeps its refs in a ${value}`;
  return extension === "partialclone" ? PARTIAL : `has the extension ${extension}`;
}

function hasPromisedPacks(gitDir: string): boolean {
  try {
    return readdirSync(join(gitDir, "objects", "pack")).some((name) => name.endsWith(".promisor"));
  } catch {
    return false; // no packs
  }
}
