// Runs one command line: reads the world outside, here and nowhere below, finds the command, parses its words, ends with its exit
// code.
import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { requireGit } from "../app/conversation/engine.ts";
import { recoverTurns } from "../app/conversation/record-turn.ts";
import type { Runtime } from "../app/conversation/runtime.ts";
import { openWorkspace, type Workspace, warnOfPrograms } from "../app/conversation/workspace.ts";
import { JpgError } from "../core/errors.ts";
import { forTerminal, shellWord } from "../core/safe-text.ts";
import { COMMANDS } from "./command-table.ts";
import { type CommandSpec, exitCodeOf, type Fronts, GLOBAL_OPTIONS, optionsFrom, withEngine } from "./frame/command.ts";
import { createOutput, type Output, type OutputStream } from "./frame/output.ts";
import { fromSystemError } from "./frame/render-error.ts";
import { inputKind, readInput } from "./frame/screen.ts";
import { loadCommands, renderCommandHelp, renderHelp, unknownCommand, unknownOption } from "./help.ts";
import { parseArguments } from "./parse-arguments.ts";

// The world outside as commands see it: environment, clock, randomness, standard input. Read here and nowhere below.

/** Creates the runtime of this process. `version` is jpg's, e.g. `0.1.0`. */
export function createRuntime(version: string): Runtime {
  return {
    version,
    env: process.env,
    cwd: process.cwd(),
    home: homeFolder(process.env["HOME"]),
    nodePath: process.execPath,
    jpgPath: fileURLToPath(new URL("../../bin/jpg.js", import.meta.url)),
    now: () => new Date(),
    localTime: ({ year, month, day, hours = 0, minutes = 0, seconds = 0 }) =>
      new Date(year, month - 1, day, hours, minutes, seconds),
    startOfDay: (daysAgo) => {
      const now = new Date();
      return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
    },
    random: (length) => randomBytes(length),
    inputKind: () => Promise.resolve(inputKind()),
    readStdinWithin: readInput,
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}

/** The user's folder by HOME; where that names none (cron, containers) by the system, so that nothing is kept below the current one. */
function homeFolder(named = ""): string {
  if (isAbsolute(named)) return named;
  try {
    return userInfo().homedir;
  } catch {
    return "/"; // a user whom the system does not know
  }
}

// Runs one command line: which command it names, the options before and after it, output, and the exit code of whatever
// comes of it.

/** The world of a call, read in main.ts. */
export interface CallContext {
  readonly runtime: Runtime;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly fronts: Fronts;
  /** Called when the reader of standard output has gone away. */
  readonly onClosed: () => void;
  /** Called when standard output takes nothing more for another reason. */
  readonly onFailed: (error: NodeJS.ErrnoException) => void;
}

/** Runs the command that the words name. Resolves to the exit code; nothing is thrown for what a command refuses. */
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
    return await runCommand({ name, options, words }, { runtime, output, fronts: context.fronts });
  } catch (thrown) {
    const error = fromSystemError(thrown);
    output.error(error);
    return exitCodeOf(error);
  }
}

/** Commands whose words are not jpg's own. */
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
}

async function runCommand(call: Call, world: World): Promise<number> {
  const { words } = call;
  // Alone, it says what is here.
  const name = call.name ?? "status";
  if (name === "--help" || name === "-h" || (name === "help" && words.length === 0)) {
    world.output.data(forTerminal(renderHelp(await loadCommands())));
    return 0;
  }
  if (name.startsWith("-")) throw unknownOption(name);
  const wanted = name === "help" ? (words[0] ?? "") : name;
  const load = Object.hasOwn(COMMANDS, wanted) ? COMMANDS[wanted] : undefined;
  if (load === undefined) throw unknownCommand(wanted, await loadCommands());
  const { command } = await load();
  if (name === "help" || asksForHelp(command, words)) {
    world.output.data(forTerminal(renderCommandHelp(command)));
    return 0;
  }
  return runParsed(command, call, world);
}

/** `jpg git log --help` is git's to answer, `jpg git --help` is jpg's. */
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
  const open = async (how: { readonly create?: boolean } = {}): Promise<Workspace> => {
    const workspace = await openWorkspace(runtime, {
      ...optionsFrom(options),
      ...messagesTo(output),
      ...how,
    });
    opened.push(workspace);
    // `jpg git` is stock git, and follows them.
    if (command.passThrough !== true) warnOfPrograms(workspace);
    // A turn whose writer was killed is committed by whoever opens the store next.
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
    // `--from tomorrow`: a conversation of that name would have been meant; there is none, so the bound was.
    if (refusedValue !== null && error instanceof JpgError && error.code === "unknown_id") throw refusedValue.error;
    throw withFullName(error, call);
  } finally {
    for (const workspace of opened) await workspace.close();
  }
}

/** What was typed, to be typed again with a name in full where a beginning of it was refused. */
function withFullName(error: unknown, { name: command = "", words }: Call): unknown {
  if (!(error instanceof JpgError) || error.code !== "other_conversation") return error;
  const { word, name } = error.data;
  if (typeof name !== "string" || !words.includes(String(word))) return error;
  const line = ["jpg", command, ...words.map((one) => shellWord(one === word ? name : one))].join(" ");
  const hints = [`If you mean that one, type its full name: \`${line}\``];
  return new JpgError(error.kind, error.code, error.message, { hints, data: error.data, cause: error });
}

/** How what happens below the commands is said. */
interface Messages {
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
}

function messagesTo(output: Output): Messages {
  return { info: (text) => output.info(forTerminal(text)), warn: (text) => output.warn(forTerminal(text)) };
}

// Global options that stand before the command, as in `jpg --store DIR ls`: they mean the same there.

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

/** How many words an option takes, itself included; 0 when it is no global option. */
function wordsOfOption(word: string): number {
  const [name = "", value] = word.split("=", 2);
  const option = GLOBAL_OPTIONS.find(({ flags }) => new Set<string>(flags.match(/--?[\w-]+/g)).has(name));
  if (option === undefined) return 0;
  return option.flags.includes("<") && value === undefined ? 2 : 1;
}
