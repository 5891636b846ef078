// The global options that choose a store.
import type { WorkspaceOptions } from "../app/workspace.ts";
import { type OptionValues, text, texts } from "./command.ts";

/** Reads `--store`, `--engine` and `--cfg`. */
export function optionsFrom(options: OptionValues): WorkspaceOptions {
  const store = text(options, "store");
  const engine = text(options, "engine");
  return {
    ...(store === undefined ? {} : { store }),
    ...(engine === "native" || engine === "embedded" ? { engine } : {}),
    overrides: texts(options, "cfg"),
  };
}
