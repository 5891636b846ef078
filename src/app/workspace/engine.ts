// Which engine works: the git program where there is one, else the one that needs none.
import type { ConversationStore } from "../../store/conversation-store.ts";
import { hasProgram } from "../../store/files/find-program.ts";

/** Engines by their names on the command line. */
export type EngineName = ConversationStore["engine"];

/** What a choice is made from. */
interface EngineChoice {
  readonly engine?: EngineName | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Chooses the engine of this call; `--engine` decides, whatever is there: without git the native one says that it is missing. */
export function chooseEngine({ engine, env }: EngineChoice): EngineName {
  return engine ?? (hasProgram("git", env["PATH"] ?? env["Path"]) ? "native" : "embedded");
}
