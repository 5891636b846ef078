// Loads the config: every layer read, checked and laid over the ones below, the built-in settings lowest, each setting
// remembering where it came from.
// The user's own mistakes are errors; what a stranger's layer may not say is ignored and listed.
import { parse } from "smol-toml";
import * as z from "zod/mini";
import { asSentence, JpgError, userError } from "../core/errors.ts";
import { defined } from "../core/json.ts";
import { assembleConfig, type IgnoredSetting, type LoadedConfig } from "./assemble.ts";
import { formatKey, parseToml, type SettingPath, scanKey } from "./keys.ts";
import {
  type Assignment,
  DEFAULT_PROFILE,
  isAllowedToConversations,
  isUsersWord,
  type Layer,
  type LayerName,
  type Problem,
  readLayer,
  refusalOfOthers,
  refusalOfSetting,
  renderPlace,
  type SettingOrigin,
} from "./layers.ts";
import { resolveShortKey, type SettingNode } from "./schema.ts";

/** A config file as the caller read it. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** One delta of the conversation's layer; `problem` says why a file was none. */
export interface ConversationDelta {
  readonly file: string;
  readonly at_turn: number;
  readonly delta: unknown;
  readonly problem?: string;
}

export interface ConfigInput {
  readonly user?: ConfigFile;
  /** `trusted`: the user said `jpg trust` to exactly this text. */
  readonly project?: ConfigFile & { readonly trusted: boolean };
  /** Oldest first, only those that hold at the turn in question (see `selectDeltas`). */
  readonly conversation: readonly ConversationDelta[];
  /** KEY=VALUE of each --cfg, in the order typed. */
  readonly overrides: readonly string[];
  /** Providers that the user named for this conversation before. */
  readonly named?: readonly string[];
}

interface Source {
  readonly layer: Layer;
  readonly isTrusted: boolean;
  /** Named in errors about settings that stand in no file. */
  readonly shownAs?: string;
}

/**
 * Loads the config from its layers: built-in < user < project < conversation < flags. Throws `bad_toml`, `unknown_key` and
 * `bad_value` for the user's and the project's file, these two and `bad_override` for --cfg; never for a conversation's layer.
 */
export function loadConfig(input: ConfigInput): LoadedConfig {
  const ignored: IgnoredSetting[] = [];
  for (const { file, problem } of input.conversation) {
    if (problem !== undefined) ignored.push({ key: "", layer: "conversation", file, reason: problem });
  }
  const layers = listSources(input).map((source) => {
    const { assignments, problems } = readLayer(source.layer);
    for (const problem of problems) handleProblem(problem, source, ignored);
    return { name: source.layer.name, isUsersWord: isUsersWord(source.layer.name, source.isTrusted), assignments };
  });
  const remembered = (input.named ?? []).map(nameProvider);
  const usersWord = layers.filter((layer) => layer.isUsersWord).flatMap(({ assignments }) => assignments);
  const own = assembleConfig(inForceOf([...remembered, ...usersWord]));
  const counting = layers.flatMap(({ name, isUsersWord: counts, assignments }) =>
    assignments.filter((assignment) => {
      const reason =
        refusalOfOthers(name, assignment.path) ?? (counts ? null : refusalOfSetting(name, assignment, own.config));
      if (reason === null) return true;
      ignored.push({ key: formatKey(assignment.path), reason, value: assignment.raw, ...assignment.origin });
      return false;
    }),
  );
  return Object.assign(assembleConfig(inForceOf([...remembered, ...counting])), { ignored });
}

/** The last word on each key. */
function inForceOf(assignments: readonly Assignment[]): ReadonlyMap<string, Assignment> {
  return new Map(assignments.map((assignment) => [formatKey(assignment.path), assignment]));
}

/** A provider's table without a setting names it. */
function nameProvider(name: string): Assignment {
  return { path: ["providers", name], facts: null, raw: {}, value: undefined, origin: { layer: "user" } };
}

/** Settings of one file that are named one by one; more are counted. */
const MOST_LINES = 3;

/** Renders what was ignored as warnings, one line each, with what to do about it. */
export function renderIgnored(ignored: readonly IgnoredSetting[]): readonly string[] {
  const byFile = new Map<string, IgnoredSetting[]>();
  for (const setting of ignored) {
    const file = setting.file ?? "";
    byFile.set(file, [...(byFile.get(file) ?? []), setting]);
  }
  return [...byFile.values()].flatMap((settings) =>
    settings.length > MOST_LINES ? [renderMany(settings)] : settings.map(renderOne),
  );
}

function renderOne({ key, reason, ...origin }: IgnoredSetting): string {
  return `${renderPlace(origin)}: ignored ${key === "" ? "the file" : key}: ${reason}${remedyIn(origin)}`;
}

function renderMany(settings: readonly IgnoredSetting[]): string {
  const { layer, file } = settings[0] ?? { layer: "project" };
  const named = settings.slice(0, MOST_LINES).map(({ key }) => key);
  const why = layer === "project" ? "they need trust" : "a conversation may not set them";
  return `${file ?? layer}: ignored ${settings.length} settings (${named.join(", ")} …): ${why}${remedyIn({ layer })}`;
}

function remedyIn({ layer }: Pick<SettingOrigin, "layer">): string {
  return layer === "project" ? "; `jpg trust --dry-run` shows what trust would allow" : "";
}

function listSources({ user, project, conversation, overrides }: ConfigInput): Source[] {
  const sources: Source[] = [];
  if (user !== undefined) sources.push({ layer: fileLayer("user", user), isTrusted: true });
  if (project !== undefined) sources.push({ layer: fileLayer("project", project), isTrusted: project.trusted });
  for (const { file, delta, problem } of conversation) {
    if (problem !== undefined) continue;
    sources.push({ layer: { name: "conversation", file, lineOf: () => 1, table: delta }, isTrusted: false });
  }
  for (const text of overrides) {
    const override = parseOverride(text);
    const shownAs = `--cfg ${formatKey(override.path)}`;
    sources.push({ layer: { name: "flag", table: toTable(override) }, isTrusted: true, shownAs });
  }
  return sources;
}

function fileLayer(name: LayerName, { path, text }: ConfigFile): Layer {
  return { name, file: path, ...parseToml(text, path) };
}

function handleProblem(problem: Problem, { layer, isTrusted, shownAs }: Source, ignored: IgnoredSetting[]): void {
  const { code, key, origin, reason, nearest, instead, gated } = problem;
  if (layer.name === "conversation" || (gated && !isTrusted)) {
    ignored.push({ key, reason: code === "unknown_key" ? "unknown key" : reason, ...origin });
    return;
  }
  const where = shownAs ?? renderPlace(origin);
  const what = code === "unknown_key" ? `unknown key ${key}` : `bad value of ${key}`;
  throw new JpgError("config", code, `${shownAs ?? `${where}: ${what}`}: ${asSentence(reason)}`, {
    hints: [instead ?? (nearest === undefined ? `Correct ${where}.` : `Did you mean ${nearest}?`)],
    data: { key, ...origin, ...defined({ nearest }) },
  });
}

/** One setting of the command line. */
export interface Override {
  /** From the root, in full. */
  readonly path: SettingPath;
  readonly value: unknown;
  /** As typed. */
  readonly text: string;
}

/**
 * Parses `KEY=VALUE`. `conversation.compaction.` and `conversation.` may be left out; VALUE is TOML, else a bare text.
 * Throws `bad_override` and `unknown_key`. Whether the value is allowed is decided when the layers are loaded.
 */
export function parseOverride(text: string): Override {
  const key = scanKey(text, 0);
  if (key === null || text[key.end] !== "=") throw badOverride(text, "expected KEY=VALUE");
  const { path, node } = resolveShortKey(key.path);
  return { path, value: parseValue(node, text.slice(key.end + 1).trim()), text };
}

/** Gives an override as nested tables, the shape of a config file. */
export function toTable({ path, value }: Override): Readonly<Record<string, unknown>> {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<Record<string, unknown>>;
}

/**
 * Puts overrides together into the delta that a conversation stores; the later one wins. Settings that a conversation may
 * not set (programs, addresses, what spends or sends) are left out: they hold for this call only. Null when nothing is left
 * to store. What is wrong with an override is `loadConfig`'s to report.
 */
export function toDelta(
  overrides: readonly Override[],
  asksForSummary: (profile: string) => boolean,
): Readonly<Record<string, unknown>> | null {
  const delta: Record<string, unknown> = {};
  let isEmpty = true;
  for (const override of overrides) {
    for (const { path, raw, facts } of readLayer({ name: "flag", table: toTable(override) }).assignments) {
      if (facts === null || !isAllowedToConversations(path)) continue;
      if (formatKey(path) === DEFAULT_PROFILE && asksForSummary(String(raw))) continue;
      setAt(delta, path, raw);
      isEmpty = false;
    }
  }
  return isEmpty ? null : delta;
}

function setAt(table: Record<string, unknown>, path: SettingPath, value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    table[name] = value;
    return;
  }
  const inner = Object.hasOwn(table, name) ? (table[name] as Record<string, unknown>) : {};
  table[name] = inner;
  setAt(inner, rest, value);
}

/** A setting that wants a text gets one even where the text could be read as a number or a date. */
function parseValue(node: SettingNode, text: string): unknown {
  const value = parseTomlValue(text);
  if (node.type !== "setting" || typeof value === "string") return value;
  const fits = (candidate: unknown) => candidate === node.facts.unset || z.safeParse(node.schema, candidate).success;
  return !fits(value) && fits(text) ? text : value;
}

function parseTomlValue(text: string): unknown {
  try {
    const table = parse(`value = ${text}`);
    return Object.keys(table).length === 1 ? table["value"] : text;
  } catch {
    return text; // no TOML: a bare text
  }
}

function badOverride(text: string, expected: string): JpgError {
  const shown = text.includes("=") ? text.slice(0, text.indexOf("=") + 1) : text;
  return userError("bad_override", `--cfg ${JSON.stringify(shown)} cannot be read: ${expected}.`, {
    hints: ["For example: --cfg keep_last=5, or --cfg conversation.compaction.default_profile=light"],
  });
}
