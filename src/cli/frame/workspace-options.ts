// The global options that choose a store.
import type { WorkspaceOptions } from "../../app/workspace/workspace.ts";
import { type OptionValues, text, texts } from "./command.ts";

/** Reads `--store` and `--cfg`. There is one engine on disk, so `--engine` chooses nothing yet. */
export function optionsFrom(options: OptionValues): WorkspaceOptions {
  const store = text(options, "store");
  return {
    ...(store === undefined ? {} : { store }),
    overrides: texts(options, "cfg"),
  };
}
