// The global options that choose a store.
import type { Runtime } from "../../app/conversation/runtime.ts";
import type { WorkspaceOptions } from "../../app/conversation/workspace.ts";
import { defined } from "../../core/json.ts";
import { type OptionValues, text, texts } from "./command.ts";

/** Reads `--store` and `--cfg`. */
export function optionsFrom(options: OptionValues): WorkspaceOptions {
  const store = text(options, "store");
  return {
    ...defined({ store }),
    overrides: texts(options, "cfg"),
  };
}

/** The world with the engine that `--engine` names. */
export function withEngine(runtime: Runtime, options: OptionValues): Runtime {
  const engine = text(options, "engine");
  return engine === "native" || engine === "embedded" ? { ...runtime, engine } : runtime;
}
