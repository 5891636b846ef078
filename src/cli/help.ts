// The list of commands, the help text of a command, and suggestions for an unknown name.
import { type JpgError, nearestName, userError } from "../core/errors.ts";
import { COMMANDS } from "./command-table.ts";
import { type CommandSpec, GLOBAL_OPTIONS } from "./frame/command.ts";
import { buildCommand } from "./parse-arguments.ts";

/** Loads every command's declaration that people call, in the order of the table. */
export async function loadCommands(): Promise<CommandSpec[]> {
  const commands = await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command));
  return commands.filter((command) => command.hidden !== true);
}

/** The text of `jpg --help`. */
export function renderHelp(commands: readonly CommandSpec[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "jpg: version control for AI conversations",
    "",
    "Usage: jpg <command> [arguments]",
    "       jpg conversation <command>, or jpg c <command>, is the same",
    "",
    "Commands:",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "The main loop: jpg import, jpg compact, jpg diff, jpg resume --with AGENT; work",
    "in the agent, then jpg import again.",
    "",
    "`jpg <command> --help` explains a command. ID names a conversation, branch,",
    "agent's session, compaction, commit or event, or is the beginning of a name, of",
    "four characters or more; @ is the active conversation, - the one before. A",
    "number is always a turn; turns count from 0, and ranges include both ends.",
  ].join("\n");
}

/** The text of `jpg <command> --help`. */
export function renderCommandHelp(command: CommandSpec): string {
  const chunks: string[] = [];
  const built = buildCommand(command).configureOutput({
    writeOut: (text) => chunks.push(text),
    writeErr: (text) => chunks.push(text),
  });
  built.outputHelp();
  return chunks.join("");
}

/** Removed commands, and what to use instead. */
const FORMER_COMMANDS: Readonly<Record<string, string>> = {
  trace:
    "`jpg search TEXT` finds who said something; `jpg show SUMMARY --sources` says who first said each fact of a summary.",
  "cherry-pick":
    "`jpg git cherry-pick COMMIT` applies a compaction of another fork to the active one; `jpg log FORK` lists its commits.",
};

/** Returns the error for an unknown command; `commands` are those to suggest. */
export function unknownCommand(name: string, commands: readonly CommandSpec[]): JpgError {
  const nearest = nearestCommand(
    name,
    commands.map((command) => command.name),
  );
  const instead = Object.hasOwn(FORMER_COMMANDS, name) ? FORMER_COMMANDS[name] : undefined;
  if (instead !== undefined)
    return userError("unknown_command", `jpg has no command ${name} any more.`, { hints: [instead] });
  return userError("unknown_command", `jpg has no command ${name}.`, {
    hints: [...(nearest === undefined ? [] : [`Did you mean \`jpg ${nearest}\`?`]), "`jpg --help` lists the commands."],
  });
}

/** Finds the likely command: the only one that the word begins, else the nearest name, else the longest that begins the word. */
function nearestCommand(word: string, names: readonly string[]): string | undefined {
  const begun = names.filter((name) => name.startsWith(word));
  const inside = names.filter((name) => word.startsWith(name)).sort((a, b) => b.length - a.length);
  return (begun.length === 1 ? begun[0] : nearestName(word, names)) ?? inside[0];
}

/** Returns the error for an option before the command that is not a global option. */
export function unknownOption(name: string): JpgError {
  const names = GLOBAL_OPTIONS.flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? []);
  const nearest = nearestName(name, [...names, "--help", "--version"]);
  return userError("usage", `jpg has no option ${name} before the command.`, {
    hints: [
      ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
      `Options of a command follow its name: \`jpg <command> ${name}\`.`,
    ],
  });
}
