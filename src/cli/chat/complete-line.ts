// Completion at the prompt of the chat: the names of slash commands, what may follow them, and files.
import type { LineCompletion } from "../editor/complete-text.ts";
import { completeFile } from "./complete-file.ts";
import { isCalled, type SlashCommand, type SlashContext } from "./slash-command.ts";

/** Completes a line up to its end; in a message, the name of a file that it attaches. */
export async function completeLine(
  line: string,
  commands: readonly SlashCommand[],
  context: SlashContext,
): Promise<LineCompletion> {
  if (!line.startsWith("/") || line.startsWith("//"))
    return (await completeFile(line, context.runtime.cwd)) ?? [[], line];
  const [name = "", ...words] = line.slice(1).split(/\s+/);
  const last = words.pop();
  if (last === undefined) return [matchingNames(commands, name).map((found) => `/${found} `), line];
  const command = commands.find((one) => isCalled(one, name));
  const candidates = (await command?.complete?.(words, context)) ?? [];
  return [matching(candidates, last).map((found) => `${found} `), last];
}

/** An alias is offered only where no name fits. */
function matchingNames(commands: readonly SlashCommand[], beginning: string): readonly string[] {
  const found = matching(
    commands.map(({ name }) => name),
    beginning,
  );
  if (found.length > 0) return found;
  return matching(
    commands.flatMap(({ aliases }) => aliases),
    beginning,
  );
}

function matching(candidates: readonly string[], beginning: string): readonly string[] {
  return candidates.filter((candidate) => candidate.startsWith(beginning));
}
