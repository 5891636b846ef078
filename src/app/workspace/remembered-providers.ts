// The providers that the user named for a conversation with `--model`, so that it goes on without saying so again. Kept in
// the user's state folder: what came with a store or a clone names none.
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { resolveUserPaths } from "../../config/trust.ts";
import { parseJson } from "../../core/json.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { sha256 } from "./object-id.ts";
import { readIfExists, type Workspace } from "./workspace.ts";

const FORMAT = 1;
const providersFile = z.object({ format: z.literal(FORMAT), providers: z.array(z.string()) });

/** Lists the providers that the user named for a conversation of this store; a file that cannot be understood names none. */
export async function rememberedProviders(workspace: Workspace, conversation: string): Promise<readonly string[]> {
  const text = await readIfExists(fileOf(workspace, conversation));
  // Where there is none the user is asked to name it again.
  return parseJson(text ?? "", providersFile)?.providers ?? [];
}

/** Remembers a provider that the user named. Throws what the file system throws. */
export async function rememberProvider(workspace: Workspace, conversation: string, provider: string): Promise<void> {
  const before = await rememberedProviders(workspace, conversation);
  if (before.includes(provider)) return;
  const path = fileOf(workspace, conversation);
  makeFolders(dirname(path));
  const record = { format: FORMAT, store: workspace.location.root, conversation, providers: [...before, provider] };
  await replaceFile(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

function fileOf({ runtime, location }: Workspace, conversation: string): string {
  const { stateDir } = resolveUserPaths(runtime.env, runtime.home);
  return join(stateDir, "providers", `${sha256(`${location.root}\0${conversation}`)}.json`);
}
