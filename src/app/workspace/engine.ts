// Which engine works: the git program where there is one, else the one that needs none. What differs between them before a store is
// open is here; an open store has one interface.
import { join } from "node:path";
import type { ConversationStore, Engine } from "../../store/conversation-store.ts";
import { hasProgram } from "../../store/files/find-program.ts";
import { createStore } from "../../store/native/create-store.ts";
import { gitMissingError } from "../../store/native/git/git-error.ts";
import { type Mended, mendStore } from "../../store/native/mend-store.ts";
import { openNativeStore } from "../../store/native/native-store.ts";
import { needsGit } from "../../store/needs-git.ts";
import { withoutReadme } from "../../store/readme-branch.ts";
import type { Runtime } from "./runtime.ts";
import { followSharing, followSharingToBe } from "./user-umask.ts";

/** Chooses the engine of this call; `--engine` decides, whatever is there: without git the native one says that it is missing. */
export function chooseEngine({ engine, env }: Pick<Runtime, "env"> & { readonly engine?: Engine | undefined }): Engine {
  return engine ?? (hasGit(env) ? "native" : "embedded");
}

function hasGit(env: Runtime["env"]): boolean {
  return hasProgram("git", env["PATH"] ?? env["Path"]);
}

/** Opens the store at `root`; the engine that works without git is loaded only where it is used. Throws `git_missing`. */
export async function openStore(runtime: Runtime, root: string): Promise<ConversationStore> {
  const { env, now, engine } = runtime;
  // Much is read without git: whoever asks for it is told at once, not in the middle.
  if (engine === "native" && !hasGit(env)) throw gitMissingError(undefined);
  if (chooseEngine(runtime) === "native") return withoutReadme(await openNativeStore({ root, env }));
  const { openEmbeddedStore } = await import("../../store/embedded/embedded-store.ts");
  return withoutReadme(await openEmbeddedStore({ root, env, now }));
}

/** Refuses what only git does, where jpg works without: `needs_git`. `what` begins the sentence, e.g. `A clone`. */
export function requireGit(runtime: Runtime, what: string): void {
  if (chooseEngine(runtime) !== "native") throw needsGit(what);
}

/** Mends what a store says of its place, hooks above all; null where nothing was amiss. Without git nothing runs them. */
export async function mend(runtime: Runtime, root: string): Promise<Mended | null> {
  const { env, nodePath, jpgPath } = runtime;
  return chooseEngine(runtime) === "native" ? mendStore(root, { env, nodePath, jpgPath }) : null;
}

/** Creates the store at `root`, or completes one: idempotent. */
export async function makeStore(runtime: Runtime, root: string): Promise<void> {
  const { env, nodePath, jpgPath } = runtime;
  const gitDir = join(root, ".git");
  if (chooseEngine(runtime) === "native") {
    await followSharingToBe(gitDir, env);
    return createStore(root, { env, nodePath, jpgPath });
  }
  await followSharing(gitDir);
  const { createStoreWithoutGit } = await import("../../store/embedded/create-store.ts");
  await createStoreWithoutGit(root, { env, nodePath, jpgPath });
}
