// Models that are files on the user's machine: where the settings say that they are, and what is known of one without running
// it. Invariant: a name means a file of that one folder; it can never lead out of it.
import { isAbsolute, join } from "node:path";
import type { Config } from "../../config/config.ts";
import { resolveUserPaths } from "../../config/trust.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { LlmConnection, ModelFiles } from "../../llm/client.ts";
import { readGgufHeader } from "../../llm/gguf-engine.ts";
import type { Runtime } from "../workspace/runtime.ts";

/** Whose model. */
export interface FileModel {
  /** The provider's name: that of its settings. */
  readonly provider: string;
  /** Name of the file. */
  readonly model: string;
}

/** Gives the connection to a file's model. Throws `bad_model_name`, `no_folder`, `bad_folder`. */
export function ggufConnection(runtime: Runtime, config: Config, name: FileModel): LlmConnection {
  const setting = `providers.${name.provider}.folder`;
  const files = filesOf(runtime, config, name);
  return { provider: name.provider, api: "gguf", keySetting: setting, urlSetting: setting, files };
}

/** Tells how many tokens a file's model sees at once; null when that is not known, or there is no such file. */
export async function ggufWindow(runtime: Runtime, config: Config, name: FileModel): Promise<number | null> {
  try {
    const { folder, contextTokens = Number.POSITIVE_INFINITY } = filesOf(runtime, config, name);
    const { contextLength } = await readGgufHeader(join(folder, name.model));
    return contextLength === null ? null : Math.min(contextLength, contextTokens);
  } catch {
    return null; // asking it says why
  }
}

function filesOf({ env, home }: Runtime, { providers }: Config, { provider, model }: FileModel): ModelFiles {
  const { folder, library, context_tokens } = providers[provider] ?? {};
  const setting = `providers.${provider}.folder`;
  if (folder === undefined) {
    throw new JpgError("config", "no_folder", `${provider}/${model} cannot be run: ${setting} is not set.`, {
      hints: [
        `Set ${setting} to the folder of your .gguf files (\`jpg config --show-origin\` names your settings file).`,
      ],
      data: { setting },
    });
  }
  if (!/^[^/\\]+\.gguf$/i.test(model)) {
    const expected = `the name of a .gguf file in ${setting}`;
    throw userError("bad_model_name", `${JSON.stringify(model)} names no file: expected ${expected}.`, {
      hints: [`For example: ${provider}/my-model.gguf`],
      data: { provider },
    });
  }
  return {
    folder: resolveFolder(home, folder, setting),
    library:
      library === undefined
        ? join(resolveUserPaths(env, home).dataDir, "llama")
        : resolveFolder(home, library, `providers.${provider}.library`),
    ...defined({ contextTokens: context_tokens }),
  };
}

/** A setting may come from several places, so there is none that a relative path could start from. */
function resolveFolder(home: string, path: string, setting: string): string {
  const resolved = path.startsWith("~/") ? join(home, path.slice(2)) : path;
  if (isAbsolute(resolved)) return resolved;
  throw new JpgError(
    "config",
    "bad_folder",
    `${setting} cannot be used: expected a path that begins with / or ~/, received ${JSON.stringify(path)}.`,
    {
      hints: [`Correct ${setting}.`],
      data: { setting },
    },
  );
}
