// Turns a command's declaration into a commander parser, and arguments into values. Errors become JpgErrors (exit 2).
import { Argument, Command, CommanderError, Option } from "commander";
import { isRange } from "../core/conversation/range-bound.ts";
import { asSentence, nearestName, userError } from "../core/errors.ts";
import { shellWord } from "../core/safe-text.ts";
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec, type OptionValues } from "./frame/command.ts";

export interface ParsedArguments {
  readonly args: readonly string[];
  readonly options: OptionValues;
  /** A word that counts as an argument because the option before it refused it as its value; null if there is none. */
  readonly refusedValue: RefusedValue | null;
}

/**
 * Parses the words after the command's name; `leading` are the global options before it. Words for another program are
 * returned unchanged. Throws `usage`, `contradictory_flags`.
 */
export function parseArguments(
  spec: CommandSpec,
  words: readonly string[],
  leading: readonly string[] = [],
): ParsedArguments {
  if (spec.passThrough === true) return { ...parseOwn({ ...spec, arguments: [] }, leading), args: words };
  return parseOwn(spec, [...leading, ...words]);
}

function parseOwn(spec: CommandSpec, words: readonly string[]): ParsedArguments {
  const command = buildCommand(spec);
  const given = collectSingleValues(spec, command);
  const refusedValue = findRefusedValue(spec.options ?? [], words);
  let args: readonly string[] = [];
  command.action((...values: unknown[]) => {
    args = values
      .slice(0, -2)
      .flatMap((value) => (Array.isArray(value) ? value : value === undefined ? [] : [value])) as string[];
  });
  try {
    command.parse(hideDashes(joinValues(spec.options ?? [], words)), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode === 0) throw error;
    throw error.code === "commander.excessArguments" && refusedValue !== null
      ? refusedValue.error
      : usageError(spec, words, error);
  }
  for (const [flags, values] of given) if (values.length > 1) throw severalValuesError(spec, flags, values);
  return { args: args.map(showDash), options: command.opts(), refusedValue };
}

/** Collects the different values of each option that takes one value; the map fills while the command is parsed. */
function collectSingleValues(spec: CommandSpec, command: Command): ReadonlyMap<string, readonly string[]> {
  const given = new Map<string, string[]>();
  for (const { flags, repeatable } of optionsOf(spec)) {
    if (repeatable === true || !/[<[]/.test(flags)) continue;
    const values: string[] = [];
    given.set(flags, values);
    command.on(`option:${new Option(flags).name()}`, (value: string | null) => {
      if (!values.includes(value ?? "")) values.push(value ?? "");
    });
  }
  return given;
}

function severalValuesError(spec: CommandSpec, flags: string, values: readonly string[]): Error {
  const option = flags.replace(/\s*[<[].*$/, "");
  const named = values.map((value) => (value === "" ? "none" : shellWord(value)));
  return userError(
    "contradictory_flags",
    `jpg ${spec.name}: ${option} takes one value and was given ${named.length}: ${named.join(" and ")}.`,
    { hints: ["Leave all but one of them out.", `\`jpg ${spec.name} --help\` lists its arguments and options.`] },
  );
}

/** Builds the commander command of a declaration. `--help` is answered before. */
export function buildCommand(spec: CommandSpec, options: readonly OptionSpec[] = optionsOf(spec)): Command {
  const command = new Command(`jpg ${spec.name}`)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} })
    .helpOption(false)
    .allowExcessArguments(false);
  for (const { name, description } of spec.arguments ?? []) command.addArgument(new Argument(name, description));
  for (const option of options) command.addOption(toOption(option));
  return command;
}

function toOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.description);
  if (spec.choices !== undefined && spec.isOpen !== true) option.choices([...spec.choices]);
  if (spec.conflicts !== undefined) option.conflicts([...spec.conflicts]);
  if (spec.repeatable === true)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

/** What is wrong with a command line, in jpg's own words. */
interface Fault {
  readonly message: string;
  readonly hints?: readonly (string | undefined)[];
}

function usageError(spec: CommandSpec, words: readonly string[], error: CommanderError): Error {
  if (error.code === "commander.conflictingOption") return conflictError(spec, error);
  const { message, hints = [] } = faultOf(spec, words, error);
  return userError("usage", `jpg ${spec.name} ${asSentence(message)}`, {
    hints: [
      ...hints.flatMap((hint) => (hint === undefined ? [] : [hint])),
      `\`jpg ${spec.name} --help\` lists its arguments and options.`,
    ],
  });
}

function faultOf(spec: CommandSpec, words: readonly string[], { code, message }: CommanderError): Fault {
  const quoted = [...message.matchAll(/'([^']*)'/gs)].map(([, text]) => text ?? "");
  const option = optionsOf(spec).find(({ flags }) => flags === quoted[0]);
  switch (code) {
    case "commander.missingArgument":
      return missingArgument(spec, quoted[0] ?? "");
    case "commander.optionMissingArgument":
      return { message: `needs a value for ${nameOf(option)}: ${option?.description ?? ""}` };
    case "commander.invalidArgument":
      return wrongChoice(option, /argument '(.*)' is invalid/s.exec(message)?.[1] ?? "");
    case "commander.excessArguments":
      return tooMany(spec, message);
    case "commander.unknownOption":
      return unknownOptionOf(spec, words, /'(.*)'/s.exec(message)?.[1] ?? "");
    default:
      return { message: `was called in a way it does not understand: ${message.replace(/^error: /, "")}` };
  }
}

/** `--to` of `--to <bound>`. */
function nameOf(option: OptionSpec | undefined): string {
  return /--[\w-]+/.exec(option?.flags ?? "")?.[0] ?? "an option";
}

function missingArgument({ arguments: all = [], examples = [] }: CommandSpec, name: string): Fault {
  const wanted = all.find((argument) => bareName(argument.name) === name);
  const [example] = examples;
  return {
    message: `needs ${name.toUpperCase()}: ${wanted?.description ?? ""}`,
    hints: [example === undefined ? undefined : `For example: \`${example.command}\``],
  };
}

/** `id` of `<id>`, `[id]` and `[ids...]`. */
function bareName(name: string): string {
  return name.replace(/[<>[\].]/g, "");
}

function wrongChoice(option: OptionSpec | undefined, value: string): Fault {
  const choices = option?.choices ?? [];
  const nearest = nearestName(value, choices);
  return {
    message: `takes ${choices.join(", ").replace(/, ([^,]*)$/, " or $1")} for ${nameOf(option)}; got ${shellWord(value)}`,
    hints: [nearest === undefined ? undefined : `Did you mean ${nearest}?`],
  };
}

function tooMany({ arguments: all = [], noArguments }: CommandSpec, message: string): Fault {
  const got = /got (\d+)/.exec(message)?.[1] ?? "more";
  const names = all.map(({ name }) => bareName(name).toUpperCase()).join(" and ");
  if (all.length === 0) return { message: `takes no arguments; got ${got}`, hints: [noArguments] };
  return { message: `takes ${all.length === 1 ? "one argument" : `${all.length} arguments`}, ${names}; got ${got}` };
}

function unknownOptionOf(spec: CommandSpec, words: readonly string[], typed: string): Fault {
  const [, name = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(typed) ?? [];
  if (value !== undefined && optionNamed(optionsOf(spec), name) !== undefined)
    return { message: `takes no value for ${name}; got ${shellWord(value)}` };
  const instead = spec.formerOptions?.[name];
  const names = optionsOf(spec).flatMap(({ flags, listed }) =>
    listed === "never" ? [] : (flags.match(/--[\w-]+/g) ?? []),
  );
  const nearest = instead === undefined && name.startsWith("--") ? nearestName(name, names) : undefined;
  const dashed = dashedText(spec, words, typed);
  return {
    message: `has no option ${name}`,
    hints: [
      instead,
      nearest === undefined ? undefined : `Did you mean ${nearest}?`,
      dashed === undefined ? undefined : `If ${dashed} is text: jpg ${spec.name} -- ${dashed}`,
    ],
  };
}

function conflictError(spec: CommandSpec, { message }: CommanderError): Error {
  const names = message.match(/--[\w-]+/g) ?? [];
  return userError("contradictory_flags", `${names.join(" and ")} contradict each other; use only one of them.`, {
    hints: [`\`jpg ${spec.name} --help\` explains them.`],
  });
}

/** Returns the word that was parsed as an option but may be text, quoted for a shell. */
function dashedText(spec: CommandSpec, words: readonly string[], unknown: string): string | undefined {
  if (spec.arguments?.some(({ isText }) => isText === true) !== true) return undefined;
  // For combined options such as -ix, the message names only the unknown one.
  const combined = words.find((word) => /^-[^-]/.test(word) && word.includes(unknown.slice(1)));
  return shellWord(words.includes(unknown) ? unknown : (combined ?? unknown));
}

function optionsOf(spec: CommandSpec): readonly OptionSpec[] {
  return [...(spec.options ?? []), ...GLOBAL_OPTIONS];
}

/** Joins optional values to their options with `=`; words after `--` stay as they are. */
export function joinValues(options: readonly OptionSpec[], words: readonly string[]): string[] {
  const own = ownWords(words);
  const joined: string[] = [];
  for (let index = 0; index < own.length; index++) {
    const word = own[index] ?? "";
    const option = optionNamed(options, word);
    const next = own[index + 1];
    const takes = option !== undefined && next !== undefined && takesNext(option, word, next);
    if (takes) joined.push(`${longName(option, word)}=${next}`);
    else joined.push(option?.optionalValue === undefined ? word : `${longName(option, word)}=`);
    if (takes) index++;
  }
  return [...joined, ...words.slice(own.length)];
}

/** Stands for the dash of `-3..` while the parser, which would take that for an option, reads it; no argument of a program has it. */
const HIDDEN_DASH = "\0";

function hideDashes(words: readonly string[]): string[] {
  return words.map((word) => (/^-\d/.test(word) && isRange(word) ? HIDDEN_DASH + word.slice(1) : word));
}

function showDash(word: string): string {
  return word.startsWith(HIDDEN_DASH) ? `-${word.slice(HIDDEN_DASH.length)}` : word;
}

/** A word after an option that refused it as its value, and the error to throw if it is no argument either. */
export interface RefusedValue {
  readonly word: string;
  readonly error: Error;
}

/** Finds a word that an option refused as its value, and that is therefore an argument; null if there is none. */
export function findRefusedValue(options: readonly OptionSpec[], words: readonly string[]): RefusedValue | null {
  const own = ownWords(words);
  for (const [index, word] of own.slice(1).entries()) {
    const option = optionNamed(options, own[index] ?? "");
    if (option?.refuse === undefined || word.startsWith("-") || option.optionalValue?.(word) !== false) continue;
    return { word, error: option.refuse(word) };
  }
  return null;
}

/** The words before `--`. */
function ownWords(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

function optionNamed(options: readonly OptionSpec[], word: string): OptionSpec | undefined {
  return options.find(({ flags }) => new Set<string>(flags.match(/--?[\w-]+/g)).has(word));
}

/** A short name takes no value by `=`. */
function longName({ flags }: OptionSpec, word: string): string {
  return word.startsWith("--") ? word : (/--[\w-]+/.exec(flags)?.[0] ?? word);
}

/** Whether the next word must be joined to the option, not left to the parser. */
function takesNext(option: OptionSpec, word: string, next: string): boolean {
  if (option.optionalValue !== undefined) return option.optionalValue(next);
  return option.flags.includes("<") && /^-\d/.test(next) && word.startsWith("--");
}
