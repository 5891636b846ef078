// Runs one command line: reads environment, clock and standard input (nothing below does), finds the command, parses its words
// and ends with its exit code.
import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import { basename, isAbsolute, resolve } from "node:path";
import { createInterface } from "node:readline";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import { requireGit } from "../app/conversation/engine.ts";
import { recoverTurns } from "../app/conversation/record-turn.ts";
import { type Runtime, SYSTEM_CLOCK } from "../app/conversation/runtime.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions, warnOfPrograms } from "../app/conversation/workspace.ts";
import { JpgError } from "../core/errors.ts";
import { localFolder } from "../core/folder-path.ts";
import { forTerminal, shellWord } from "../core/safe-text.ts";
import { COMMANDS } from "./command-table.ts";
import { type CommandSpec, exitCodeOf, type Fronts, GLOBAL_OPTIONS, optionsFrom, withEngine } from "./frame/command.ts";
import { showManual } from "./frame/manual.ts";
import { createOutput, type Output, type OutputStream } from "./frame/output.ts";
import { fromSystemError } from "./frame/render-error.ts";
import { inputKind, readInput } from "./frame/screen.ts";
import { loadCommands, renderCommandHelp, renderFullHelp, renderHelp, unknownCommand, unknownOption } from "./help.ts";
import { parseArguments } from "./parse-arguments.ts";

// Environment, clock, randomness and standard input as commands see them. Only this file reads them.

/** Creates the runtime of this process. `version` is jpg's, e.g. `0.1.0`. */
export function createRuntime(version: string): Runtime {
  return {
    version,
    env: process.env,
    platform: process.platform,
    cwd: process.cwd(),
    home: homeFolder(process.env["HOME"]),
    gitDir: namedGitDir(),
    nodePath: process.execPath,
    jpgPath: isSea() ? process.execPath : fileURLToPath(new URL("../../bin/jpg.js", import.meta.url)),
    ...SYSTEM_CLOCK,
    random: (length) => randomBytes(length),
    inputKind: () => Promise.resolve(inputKind()),
    readStdinWithin: readInput,
    readLines: () => createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }),
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}

/**
 * Returns the git dir that git named, if git started jpg as `git jpg`. A jpg that was started otherwise follows its folder alone:
 * GIT_DIR may be of a repository that has nothing to do with it.
 */
function namedGitDir(): string | undefined {
  const { GIT_DIR: named = "" } = process.env;
  return named !== "" && isGitCommand() ? resolve(named) : undefined;
}

/** Whether jpg was started by its name `git-jpg`: bin/git-jpg.js, a link of npm's, or the executable under that name. */
function isGitCommand(): boolean {
  return [process.argv[1], process.argv0].some((path) => /^git-jpg(?:\.(?:js|exe))?$/.test(basename(path ?? "")));
}

/** Returns HOME, or the system's home folder if HOME is not set (cron, containers), so that nothing is stored in the current folder. */
function homeFolder(named = ""): string {
  const home = localFolder(named, process.platform);
  if (isAbsolute(home)) return home;
  try {
    return userInfo().homedir;
  } catch {
    return "/"; // a user whom the system does not know
  }
}

// Runs one command line: finds its command, separates the options before and after the name, and returns the exit code.

export interface CallContext {
  readonly runtime: Runtime;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly fronts: Fronts;
  /** Called when the reader of standard output has closed it. */
  readonly onClosed: () => void;
  /** Called when standard output fails for another reason. */
  readonly onFailed: (error: NodeJS.ErrnoException) => void;
}

/** Runs the command that the words name. Resolves to the exit code; a refusal prints its error and does not throw. */
export async function runCommandLine(argv: readonly string[], context: CallContext): Promise<number> {
  const { runtime, stdout, stderr, onClosed, onFailed } = context;
  const { options, rest } = splitLeadingOptions(argv);
  const [name, ...words] = rest[0] === "conversation" || rest[0] === "c" ? rest.slice(1) : rest;
  const own = [...options, ...(PASSED_ON.includes(name ?? "") ? [] : words)];
  const end = own.indexOf("--");
  const has = (...names: string[]): boolean =>
    own.slice(0, end < 0 ? own.length : end).some((word) => names.includes(word));
  const output = createOutput({
    stdout,
    stderr,
    env: runtime.env,
    quiet: has("-q", "--quiet"),
    verbose: has("-v", "--verbose"),
    json: has("--json"),
    onClosed,
    onFailed,
  });
  if (name === "--version" || name === "-V") {
    output.data(forTerminal(runtime.version));
    return 0;
  }
  try {
    const isAlone = name === undefined || name === "--all";
    const call = isAlone ? { name: "status", options, words: [SCREEN, ...rest] } : { name, options, words };
    const isTerminal = stdout.isTTY === true;
    return await runCommand(call, { runtime, output, fronts: context.fronts, isTerminal });
  } catch (thrown) {
    const error = fromSystemError(thrown);
    output.error(error);
    return exitCodeOf(error);
  }
}

/** The option with which `jpg` alone calls `jpg status`. */
const SCREEN = "--screen";
/** Commands that pass their arguments to another program. */
const PASSED_ON: readonly string[] = ["git", "hook", "textconv"];

/** What was typed: the command's name, the global options before it, the words after it. */
interface Call {
  readonly name: string | undefined;
  readonly options: readonly string[];
  readonly words: readonly string[];
}

interface World {
  readonly runtime: Runtime;
  readonly output: Output;
  readonly fronts: Fronts;
  /** Whether a person reads the result: standard output is a terminal. */
  readonly isTerminal: boolean;
}

async function runCommand(call: Call, world: World): Promise<number> {
  const { words } = call;
  const { name = "status" } = call;
  const [about, ...more] = words.filter((word) => word !== "--all");
  const all = words.includes("--all");
  const general = await generalHelp(name, about, all);
  if (general !== null) {
    world.output.data(forTerminal(general));
    return 0;
  }
  if (name.startsWith("-")) throw unknownOption(name);
  const wanted = name === "help" ? (about ?? "") : name;
  const load = Object.hasOwn(COMMANDS, wanted) ? COMMANDS[wanted] : undefined;
  if (load === undefined) throw unknownCommand(wanted, await loadCommands(), name === "help" ? more : words);
  const { command } = await load();
  if (name !== "help" && !asksForHelp(command, words)) return runParsed(command, call, world);
  await explain(command, { all, isManual: name === "help" && !all && world.isTerminal }, world);
  return 0;
}

/** Renders what `jpg --help` and `jpg help` print without the name of a command; null = something else was typed. */
async function generalHelp(name: string, about: string | undefined, all: boolean): Promise<string | null> {
  if (name === "help" && about === "--agents")
    return (await import("./agents-help.ts")).renderAgentsHelp(await loadCommands());
  if (name !== "--help" && name !== "-h" && (name !== "help" || about !== undefined)) return null;
  return all ? renderFullHelp(await loadCommands()) : renderHelp();
}

/** Shows the manual page of a command, if it is asked for and can be shown, or else prints the help of the command. */
async function explain(
  command: CommandSpec,
  { all, isManual }: { readonly all: boolean; readonly isManual: boolean },
  { runtime, output }: World,
): Promise<void> {
  if (isManual && (await showManual(runtime, command.name))) return;
  output.data(forTerminal(renderCommandHelp(command, { all })));
}

/** `jpg git log --help` is passed to git; jpg answers `jpg git --help`. */
function asksForHelp(command: CommandSpec, words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const own = command.passThrough === true ? words.slice(0, 1) : words.slice(0, end < 0 ? words.length : end);
  return own.some((word) => word === "--help" || word === "-h");
}

async function runParsed(command: CommandSpec, call: Call, { runtime: given, output, fronts }: World): Promise<number> {
  const { args, options, refusedValue } = parseArguments(command, call.words, call.options);
  const runtime = withEngine(given, options);
  if (command.withoutGit !== true) requireGit(runtime, `\`jpg ${command.name}\``);
  const opened: Workspace[] = [];
  const open = async (how: Pick<WorkspaceOptions, "create" | "overrides"> = {}): Promise<Workspace> => {
    const workspace = await openWorkspace(runtime, {
      ...optionsFrom(options),
      ...messagesTo(output),
      progress: output.counts,
      ...how,
    });
    opened.push(workspace);
    // `jpg git` runs stock git, which obeys such settings.
    if (command.passThrough !== true) warnOfPrograms(workspace);
    // If a writer was killed, the next command that opens the store commits its turn.
    await recoverTurns(workspace, messagesTo(output));
    return workspace;
  };
  try {
    return (
      (await command.run({
        args,
        options,
        runtime,
        output,
        json: options["json"] === true,
        fronts,
        commands: loadCommands,
        open,
      })) ?? 0
    );
  } catch (error) {
    // `--from tomorrow`: no conversation is named tomorrow, so the user meant it as the bound.
    if (refusedValue !== null && error instanceof JpgError && error.code === "unknown_id") throw refusedValue.error;
    throw withFullName(error, call);
  } finally {
    output.counts(null);
    for (const workspace of opened) await workspace.close();
  }
}

/** Adds a hint with the command line that uses the full name, if the beginning of a name was refused. */
function withFullName(error: unknown, { name: command = "", words }: Call): unknown {
  if (!(error instanceof JpgError) || error.code !== "other_conversation") return error;
  const { word, name } = error.data;
  if (typeof name !== "string" || !words.includes(String(word))) return error;
  const line = ["jpg", command, ...words.map((one) => shellWord(one === word ? name : one))].join(" ");
  const hints = [`If you mean that one, type its full name: \`${line}\``];
  return new JpgError(error.kind, error.code, error.message, { hints, data: error.data, cause: error });
}

interface Messages {
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
}

function messagesTo(output: Output): Messages {
  return { info: (text) => output.info(forTerminal(text)), warn: (text) => output.warn(forTerminal(text)) };
}

// Global options before the command, as in `jpg --store DIR ls`, mean the same as after it.

export interface LeadingOptions {
  /** The options with their values, as given; never the command's name. */
  readonly options: readonly string[];
  /** The command and all that follows. */
  readonly rest: readonly string[];
}

/** Splits off the global options before the command. An option that is not global ends them. */
export function splitLeadingOptions(words: readonly string[]): LeadingOptions {
  let index = 0;
  while (index < words.length) {
    const width = wordsOfOption(words[index] ?? "");
    if (width === 0) break;
    index += width;
  }
  return { options: words.slice(0, index), rest: words.slice(index) };
}

/** Counts the words of an option, itself included; 0 if it is not a global option. */
function wordsOfOption(word: string): number {
  const [name = "", value] = word.split("=", 2);
  const option = GLOBAL_OPTIONS.find(({ flags }) => new Set<string>(flags.match(/--?[\w-]+/g)).has(name));
  if (option === undefined) return 0;
  return option.flags.includes("<") && value === undefined ? 2 : 1;
}
