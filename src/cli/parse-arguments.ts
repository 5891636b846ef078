// Turns a command's declaration into a commander parser, and arguments into values. Errors become JpgErrors (exit 2).
import { Argument, Command, CommanderError, Option } from "commander";
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
    command.parse([...joinValues(spec.options ?? [], words)], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode === 0) throw error;
    throw error.code === "commander.excessArguments" && refusedValue !== null
      ? refusedValue.error
      : usageError(spec, words, error);
  }
  for (const [flags, values] of given) if (values.length > 1) throw severalValuesError(spec, flags, values);
  return { args, options: command.opts(), refusedValue };
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

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

/** Builds the commander command of a declaration; `--help` comes from it, too. */
export function buildCommand(spec: CommandSpec): Command {
  const command = new Command(`jpg ${spec.name}`)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} });
  command.description(spec.description ?? sentence(spec.summary)).allowExcessArguments(false);
  for (const { name, description } of spec.arguments ?? []) command.addArgument(new Argument(name, description));
  for (const option of optionsOf(spec)) command.addOption(toOption(option));
  if (spec.examples !== undefined) {
    const lines = spec.examples.map((example) => `  ${example.command}\n      ${example.explains}`);
    command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
  }
  return command;
}

function toOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.description);
  if (spec.choices !== undefined) option.choices([...spec.choices]);
  if (spec.conflicts !== undefined) option.conflicts([...spec.conflicts]);
  if (spec.repeatable === true)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

function usageError(spec: CommandSpec, words: readonly string[], error: CommanderError): Error {
  if (error.code === "commander.conflictingOption") return conflictError(spec, error);
  const message = error.message.replace(/^error: /, "").replace(/\n?\(Did you mean[^)]*\)/, "");
  const instead = spec.formerOptions?.[unknownOption(message) ?? ""];
  const nearest = instead === undefined ? (nearestOption(spec, message) ?? nearestChoice(spec, message)) : undefined;
  const dashed = dashedText(spec, words, message);
  return userError("usage", `jpg ${spec.name}: ${asSentence(message)}`, {
    hints: [
      ...(instead === undefined ? [] : [instead]),
      ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
      ...(dashed === undefined ? [] : [`If ${dashed} is text: jpg ${spec.name} -- ${dashed}`]),
      `\`jpg ${spec.name} --help\` lists its arguments and options.`,
    ],
  });
}

function conflictError(spec: CommandSpec, { message }: CommanderError): Error {
  const names = message.match(/--[\w-]+/g) ?? [];
  return userError("contradictory_flags", `${names.join(" and ")} contradict each other; use only one of them.`, {
    hints: [`\`jpg ${spec.name} --help\` explains them.`],
  });
}

/** Returns the word that was parsed as an option but may be text, quoted for a shell. */
function dashedText(spec: CommandSpec, words: readonly string[], message: string): string | undefined {
  const unknown = /unknown option '(.*)'/s.exec(message)?.[1];
  if (unknown === undefined || spec.arguments?.some(({ isText }) => isText === true) !== true) return undefined;
  // For combined options such as -ix, the message names only the unknown one.
  const combined = words.find((word) => /^-[^-]/.test(word) && word.includes(unknown.slice(1)));
  return shellWord(words.includes(unknown) ? unknown : (combined ?? unknown));
}

function unknownOption(message: string): string | undefined {
  return /unknown option '(--[^'=]*)/.exec(message)?.[1];
}

function nearestOption(spec: CommandSpec, message: string): string | undefined {
  const unknown = unknownOption(message);
  const names = optionsOf(spec).flatMap((option) => option.flags.match(/--[\w-]+/g) ?? []);
  return unknown === undefined ? undefined : nearestName(unknown, names);
}

function nearestChoice(spec: CommandSpec, message: string): string | undefined {
  const wrong = /^option '(.*)' argument '(.*)' is invalid/.exec(message);
  const option = optionsOf(spec).find(({ flags }) => flags === wrong?.[1]);
  return wrong?.[2] === undefined ? undefined : nearestName(wrong[2], option?.choices ?? []);
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
