// The texts of `jpg --help`, `jpg help --all` and `jpg COMMAND --help`. Each fits 80 columns; the first and the last a screen.
import { type JpgError, nearestName, userError } from "../core/errors.ts";
import { shellWord } from "../core/safe-text.ts";
import { COMMANDS } from "./command-table.ts";
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from "./frame/command.ts";
import { LIKELY_COMMANDS } from "./likely-commands.ts";
import { buildCommand } from "./parse-arguments.ts";

/** Loads every command's declaration that people call, in the order of the table. */
export async function loadCommands(): Promise<CommandSpec[]> {
  const commands = await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command));
  return commands.filter((command) => command.hidden !== true);
}

interface CommandGroup {
  readonly title: string;
  /** For `jpg --help`: what most days need, in the group's own words. No command is loaded to print it. */
  readonly first: Readonly<Record<string, string>>;
  /** For `jpg help --all`, after those. */
  readonly others: readonly string[];
}

/** Every command that people call is in one of them. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "start",
    first: {
      import: "bring in the sessions that agents keep for this project",
      resume: "continue a conversation in its agent (--exec starts it)",
      hooks: "have agents save sessions, and compact and undo inside them",
    },
    others: ["tour", "status", "init", "sync", "export", "chat", "query"],
  },
  {
    title: "shorten",
    first: {
      compact: "shorten what the model sees; nothing that was said is lost",
      diff: "what the model sees before and after",
      undo: "undo the newest compaction",
    },
    others: ["redo", "edit", "pin", "revert", "log", "blame"],
  },
  {
    title: "look",
    first: {
      ls: "list the conversations",
      print: "print one: all that was said, or the view",
      search: "find what was said, in what is hidden too",
      stats: "what fills the window, and what it costs",
      serve: "look at conversations in a browser",
    },
    others: ["show", "comment", "title", "label", "archive", "rm", "purge"],
  },
  {
    title: "fork",
    first: {
      fork: "try another way from here, or from an earlier turn",
      use: "make another conversation or fork the active one",
    },
    others: ["merge", "review", "checkout"],
  },
  {
    title: "share",
    first: {
      push: "send conversations to a remote",
      pull: "bring in what others pushed",
    },
    others: ["share", "redact", "remote", "fetch", "clone", "local"],
  },
  { title: "check", first: {}, others: ["fsck", "check", "doctor", "scan"] },
  { title: "set up", first: {}, others: ["config", "trust", "completion", "path", "git", "live", "mcp"] },
];

/** The text of `jpg --help`. */
export function renderHelp(): string {
  const shown = COMMAND_GROUPS.filter(({ first }) => Object.keys(first).length > 0);
  const rows = shown.flatMap(({ title, first }) =>
    Object.entries(first).map(([name, text], index) => [index === 0 ? title : "", name, text] as const),
  );
  const [titles, names] = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return [
    "jpg: version control for AI conversations",
    "Usage: jpg [command]     alone: what is here, and what to do next",
    "",
    ...rows.map(([title, name, text]) => `${title.padEnd(titles ?? 0)}  ${name.padEnd(names ?? 0)}  ${text}`),
    "",
    "The main loop: `jpg compact && jpg resume --exec`; `jpg undo` undoes the first.",
    "Help: `jpg COMMAND --help`, `jpg help --all`; for a model: `jpg help --agents`.",
    "",
    ...optionLines(GLOBAL_OPTIONS, "Options of every command:"),
    "",
    "ID is a name, an agent's session, or a beginning of four characters or more; @",
    "is the active conversation, - the one before. A number is always a turn, A..B a",
    "range: turns count from 0, and ranges include both ends.",
  ].join("\n");
}

/** The text of `jpg help --all`. */
export function renderFullHelp(commands: readonly CommandSpec[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const summaries = new Map(commands.map(({ name, summary }) => [name, summary]));
  return [
    "All commands of jpg; `jpg COMMAND --help` explains one, with --all in full.",
    ...COMMAND_GROUPS.flatMap(({ title, first, others }) => [
      "",
      `${title}:`,
      ...[...Object.keys(first), ...others].map((name) => `  ${name.padEnd(width)}  ${summaries.get(name) ?? ""}`),
    ]),
    "",
    "For a model: `jpg help --agents`, all commands and options on one page.",
    "Other spellings: `git jpg ls`, `jpg conversation ls`, `jpg c ls`.",
  ].join("\n");
}

/** Most examples that a command's help shows without `--all`. */
const FIRST_EXAMPLES = 4;

/** The text of `jpg <command> --help`; `all` = with what few need. Older spellings are in neither. */
export function renderCommandHelp(command: CommandSpec, { all = false }: { readonly all?: boolean } = {}): string {
  const listed = (command.options ?? []).filter(
    ({ listed: where }) => where === undefined || (all && where === "more"),
  );
  const more = (command.options ?? []).filter(({ listed: where }) => where === "more").length;
  const examples = all ? (command.examples ?? []) : (command.examples ?? []).slice(0, FIRST_EXAMPLES);
  const { details } = command;
  const chunks: string[] = [];
  const built = buildCommand(command, listed).configureOutput({
    writeOut: (text) => chunks.push(text),
    writeErr: (text) => chunks.push(text),
  });
  const described = command.description ?? sentence(command.summary);
  built.description(all && details !== undefined ? `${described}\n\n${details}` : described);
  built.outputHelp();
  const isMore = !all && (more > 0 || details !== undefined || examples.length < (command.examples ?? []).length);
  return [
    ...chunks,
    ...(examples.length === 0 ? [] : [`\nExamples:\n${exampleLines(examples).join("\n")}\n`]),
    ...(isMore ? [`\n\`jpg ${command.name} --help --all\`: ${sayMore(more)}.\n`] : []),
  ].join("");
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

function sayMore(options: number): string {
  return options === 0 ? "more about it" : `${options} more option${options === 1 ? "" : "s"}`;
}

const COLUMNS = 80;

/** Columns of the commands of examples; a longer one has its explanation in a line of its own, if that does not fit. */
const EXAMPLE_COLUMNS = 42;

function exampleLines(examples: NonNullable<CommandSpec["examples"]>): readonly string[] {
  const lengths = examples.map(({ command }) => command.length).filter((length) => length <= EXAMPLE_COLUMNS);
  const width = Math.max(0, ...lengths);
  return examples.map(({ command, explains }) => {
    const row = `  ${command.padEnd(width)}  ${explains}`;
    return row.length <= COLUMNS ? row : `  ${command}\n      ${explains}`;
  });
}

/** Options as commander writes them. */
function optionLines(options: readonly OptionSpec[], heading: string): readonly string[] {
  const text = buildCommand({ name: "", summary: "", run: async () => 0 }, options).helpInformation();
  const [, lines = ""] = text.split("Options:\n");
  return [heading, ...lines.trimEnd().split("\n")];
}

/** Removed commands, and what to use instead. */
const FORMER_COMMANDS: Readonly<Record<string, string>> = {
  trace:
    "`jpg search TEXT` finds who said something; `jpg show SUMMARY --sources` says who first said each fact of a summary.",
  "cherry-pick":
    "`jpg git cherry-pick COMMIT` applies a compaction of another fork to the active one; `jpg log FORK` lists its commits.",
};

/** Returns the error for an unknown command and the words after it; `commands` are those to suggest. */
export function unknownCommand(
  name: string,
  commands: readonly CommandSpec[],
  words: readonly string[] = [],
): JpgError {
  if (Object.hasOwn(FORMER_COMMANDS, name))
    return userError("unknown_command", `jpg has no command ${name} any more.`, {
      hints: [FORMER_COMMANDS[name] ?? ""],
    });
  const likely = likelyHints(name, words);
  const nearest = likely.length > 0 ? undefined : nearestCommand(name, [...commands.map((command) => command.name)]);
  return userError("unknown_command", `jpg has no command ${name}.`, {
    hints: [
      ...likely,
      ...(nearest === undefined ? [] : [`Did you mean \`jpg ${nearest}\`?`]),
      ...(likely.length > 0 ? [] : ["`jpg --help` lists the commands."]),
    ],
  });
}

/** What to type instead of a command of git, of other programs or of plain English; with the words that were typed, if it takes them. */
function likelyHints(name: string, words: readonly string[]): readonly string[] {
  if (!Object.hasOwn(LIKELY_COMMANDS, name)) return [];
  const own = words.every((word) => !word.startsWith("-")) ? words.map(shellWord) : [];
  return (LIKELY_COMMANDS[name] ?? []).map(({ type, takes, does }) => {
    const after = takes === undefined ? [] : own.length > 0 ? own : takes === "" ? [] : [takes];
    return `\`${["jpg", type, ...after].join(" ")}\` ${does}.`;
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
