// Which engine works: the git program where there is one, else the one that needs none. Nobody else asks.
import type { ConversationStore, Engine } from "../../store/conversation-store.ts";
import { hasProgram } from "../../store/files/find-program.ts";
import { createStore } from "../../store/native/create-store.ts";
import { gitMissingError } from "../../store/native/git/git-error.ts";
import { openNativeStore } from "../../store/native/native-store.ts";
import { withoutReadme } from "../../store/readme-branch.ts";
import type { Runtime } from "./runtime.ts";

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

/** Creates the store at `root`, or completes one: idempotent. */
export async function makeStore(runtime: Runtime, root: string): Promise<void> {
  const { env, nodePath, jpgPath } = runtime;
  if (chooseEngine(runtime) === "native") return createStore(root, { env, nodePath, jpgPath });
  const { createStoreWithoutGit } = await import("../../store/embedded/create-store.ts");
  await createStoreWithoutGit(root, { env, nodePath, jpgPath });
}
