// What a command is: declared arguments and options (help, docs/cli.md and parsing all come from them) and a run function.
import type { Runtime } from "../../app/conversation/runtime.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace, WorkspaceOptions } from "../../app/conversation/workspace.ts";
import type { ServeRequest } from "../../app/look/page-reader.ts";
import type { MaskedPageRequest, StaticPage } from "../../app/share/masked-page.ts";
import { type ErrorKind, JpgError, userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { isTerminal } from "./ask.ts";
import type { Output } from "./output.ts";

export interface OptionSpec {
  /** As commander writes it, e.g. `-o, --output <file>`. */
  readonly flags: string;
  readonly description: string;
  /** May be given several times; the value is a list. */
  readonly repeatable?: boolean;
  /** Takes a value only with `=`, or when the next word passes this test. */
  readonly optionalValue?: (word: string) => boolean;
  /** Creates the error for a next word that fails the test and that the command cannot use as an argument either. */
  readonly refuse?: (word: string) => Error;
  readonly choices?: readonly string[];
  /** Takes other values than its choices, too: the command checks them. */
  readonly isOpen?: true;
  /** Options, by camelCase name, that cannot be given together with it. */
  readonly conflicts?: readonly string[];
  /** What a shell completes as its value, if there are no choices. */
  readonly values?: readonly string[];
  /** What a shell asks jpg for, too: profiles in the settings, format plug-ins on this machine. */
  readonly asks?: "profiles" | "plugins";
  /** Where help lists it; absent = always; `more` = with `--all`; `never` = an older spelling, which goes on working. */
  readonly listed?: "more" | "never";
}

export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  /** As of an option. */
  readonly values?: readonly string[];
  readonly asks?: OptionSpec["asks"];
  /** Takes any text, also text that begins with a dash. */
  readonly isText?: true;
}

export interface CommandSpec {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** A paragraph for the command's own help. */
  readonly description?: string;
  /** What else there is to know: for `--help --all` and docs/cli.md. */
  readonly details?: string;
  /** As commander writes them, e.g. `[id]`, `[paths...]`. */
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** For a command without arguments: what to type for what somebody means who gives it one, a sentence. */
  readonly noArguments?: string;
  /** Removed options, as typed, and what to do instead: a sentence. */
  readonly formerOptions?: Readonly<Record<string, string>>;
  readonly examples?: readonly { readonly command: string; readonly explains: string }[];
  /** Everything after the name is passed unparsed to another program (`jpg git …`). */
  readonly passThrough?: boolean;
  /** Left out of help and docs: called by git hooks or a shell, or an older spelling. */
  readonly hidden?: boolean;
  /** Whether it works without git; default no. */
  readonly withoutGit?: boolean;
  /** Resolves to the exit code; nothing = 0. */
  readonly run: (context: CommandContext) => Promise<number | undefined>;
}

/** Values of options by camelCase name. */
export type OptionValues = Readonly<Record<string, unknown>>;

/** The other front ends, which only main.ts may import. */
export interface Fronts {
  /** Serves MCP over standard input and output until the client leaves. */
  serveMcp(place: { readonly runtime: Runtime; readonly options: WorkspaceOptions }): Promise<void>;
  /** Serves pages until the signal aborts; calls `onListening` with the address. */
  servePages(request: ServeRequest): Promise<void>;
  /** Renders a branch as a self-contained HTML document. */
  renderStaticPage(workspace: Workspace, tree: BranchTree, request: MaskedPageRequest): Promise<StaticPage>;
}

export interface CommandContext {
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly runtime: Runtime;
  readonly output: Output;
  readonly json: boolean;
  readonly fronts: Fronts;
  /** Loads the declarations of all commands that people call. */
  readonly commands: () => Promise<readonly CommandSpec[]>;
  /** Opens the store that the global options and the current directory name. */
  readonly open: (how?: Pick<WorkspaceOptions, "create" | "overrides">) => Promise<Workspace>;
}

/** Returns a string option, or undefined. */
export function text(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns a repeatable option's values, in the order given. */
export function texts(options: OptionValues, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function flag(options: OptionValues, name: string): boolean {
  return options[name] === true;
}

/** The options every command takes. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: "--json", description: "print one JSON document on standard output" },
  { flags: "--store <dir>", description: "use the conversation repository in this folder" },
  {
    flags: "--engine <engine>",
    description: "use the git program, or do without it",
    choices: ["native", "embedded"],
  },
  {
    flags: "-c, --cfg <key=value>",
    description: "change a setting; query, chat and compact keep it in the conversation until `jpg config --unset`",
    repeatable: true,
  },
  { flags: "-q, --quiet", description: "print only results and errors" },
  { flags: "-v, --verbose", description: "print more" },
];

/** Reads a whole number, 0 or more; undefined when the option was not given. Throws `bad_number`. */
export function count(options: OptionValues, name: string): number | undefined {
  const word = text(options, name);
  if (word === undefined) return undefined;
  if (!/^\d{1,9}$/.test(word)) {
    const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw userError("bad_number", `--${dashed} takes a whole number, 0 or more; got ${word}.`, {
      hints: [`For example: --${dashed} 3`],
    });
  }
  return Number(word);
}

// The exit codes, in one place (docs/cli.md lists them).

const EXIT_CODES: Readonly<Record<ErrorKind, number>> = {
  user: 2,
  config: 2,
  repository: 3,
  provider: 4,
  internal: 70,
};

/** A bug in jpg: anything thrown that is no JpgError. */
const BUG = 70;

/** The shell's exit code for a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

/** Returns the exit code of a thrown value. */
export function exitCodeOf(thrown: unknown): number {
  return thrown instanceof JpgError ? EXIT_CODES[thrown.kind] : BUG;
}

/** Reads `--store` and `--cfg`. */
export function optionsFrom(options: OptionValues): WorkspaceOptions {
  const store = text(options, "store");
  return {
    store,
    overrides: texts(options, "cfg"),
  };
}

/** Returns the runtime with the engine that `--engine` names. */
export function withEngine(runtime: Runtime, options: OptionValues): Runtime {
  const engine = text(options, "engine");
  return engine === "native" || engine === "embedded" ? { ...runtime, engine } : runtime;
}

/** Git's progress lines, local and remote. */
const PROGRESS = /^(?:remote: +)?[A-Z][A-Za-z ]+: +\d+(?:%|,|$)/;
/** Git's total at the end. */
const TOTAL = /^remote: Total \d+ \(delta /;
/** Messages of the remote; commands report themselves what happened to each ref. */
const REMOTE_MESSAGE = /^remote: .*\S/;

interface TransferOutput {
  readonly interactive: boolean;
  readonly progress?: (line: string, isFinal: boolean) => void;
}

/** Returns the options of a transfer. Shows lines of git only on a terminal; those about progress overwrite each other. */
export function watchTransfer(output: Pick<Output, "info" | "progress" | "seen" | "errorStyle">): TransferOutput {
  const interactive = isTerminal(process.stdin, output);
  if (!output.seen) return { interactive };
  const show = (line: string, isFinal: boolean): void => {
    if ((line === "" && !isFinal) || TOTAL.test(line)) output.progress("");
    else if (PROGRESS.test(line) || (!isFinal && REMOTE_MESSAGE.test(line))) output.progress(line);
    else if (REMOTE_MESSAGE.test(line)) output.info(output.errorStyle.faint(safe`  ${forTerminalLine(line)}`));
  };
  return { interactive, progress: show };
}
