// Loads the config: every layer read, checked and laid over the ones below, the built-in settings lowest, each setting
// remembering where it came from.
// The user's own mistakes are errors; what a stranger's layer may not say is ignored and listed.
import { parse } from "smol-toml";
import * as z from "zod/mini";
import { TRIGGER_RATIO } from "../core/compact/automatic.ts";
import { DEFAULT_TOOL_HINTS } from "../core/compact/tool-hints.ts";
import { BUILT_IN_PROFILES, parseToolCallPolicy } from "../core/conversation/policy.ts";
import { asSentence, JpgError, userError } from "../core/errors.ts";
import { defined } from "../core/json.ts";
import type { Config } from "./config.ts";
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

/** A setting that a layer gave and that does not count. */
export interface IgnoredSetting {
  /** Dotted key; empty when a whole file does not count. */
  readonly key: string;
  readonly layer: LayerName;
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  readonly reason: string;
  /** As written; absent where it is of no use, or the whole file does not count. */
  readonly value?: unknown;
}

export interface LoadedConfig {
  readonly config: Config;
  /** As written, by dotted key; only what is in force. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Where each value comes from, by dotted key; same keys as `values`. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  /** Lowest layer first. */
  readonly ignored: readonly IgnoredSetting[];
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
  const { code, key, origin, reason, nearest, gated } = problem;
  if (layer.name === "conversation" || (gated && !isTrusted)) {
    ignored.push({ key, reason: code === "unknown_key" ? "unknown key" : reason, ...origin });
    return;
  }
  const where = shownAs ?? renderPlace(origin);
  const what = code === "unknown_key" ? `unknown key ${key}` : `bad value of ${key}`;
  throw new JpgError("config", code, `${shownAs ?? `${where}: ${what}`}: ${asSentence(reason)}`, {
    hints: [nearest === undefined ? `Correct ${where}.` : `Did you mean ${nearest}?`],
    data: { key, ...origin, ...defined({ nearest }) },
  });
}

// Puts the settings in force together into one frozen config: the built-in one, of which the tables that a layer changes are
// copied. Tables have no prototype: looking up a name that nobody set gives undefined, whatever the name.

/** A config and the settings it was made of, by dotted key, ordered by it. */
export interface AssembledConfig {
  readonly config: Config;
  /** As written. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly origins: ReadonlyMap<string, SettingOrigin>;
}

type Table = Record<string, unknown>;

/**
 * Assembles the config from the assignment in force for each key that a layer above the built-in settings gives. `values`
 * and `origins` are put together when they are asked for: only listings ask.
 */
export function assembleConfig(inForce: ReadonlyMap<string, Assignment>): AssembledConfig {
  const settings = withStrategy(withSummaryPolicies(inForce));
  return {
    config: configOf(settings),
    get values() {
      return new Map(listSet(settings).map(([key, { raw }]) => [key, raw]));
    },
    get origins() {
      return new Map(listSet(settings).map(([key, { origin }]) => [key, origin]));
    },
  };
}

function configOf(settings: readonly Assignment[]): Config {
  if (settings.length === 0) return BUILT_IN_CONFIG;
  const root: Table = ownCopy(BUILT_IN_CONFIG);
  for (const { path, facts, value } of settings) {
    const table = tableAt(root, facts === null ? path : path.slice(0, -1));
    const name = path[path.length - 1] ?? "";
    if (facts === null) continue;
    if (value === undefined) delete table[name];
    else table[name] = value;
  }
  // Each value was checked by the schema at its place, and the schema is one of Config.
  return freeze(root) as unknown as Config;
}

/** The settings by key, those of the built-in layer among them, in the order of their keys. */
function listSet(settings: readonly Assignment[]): readonly [string, Assignment][] {
  const above = settings.filter(({ facts }) => facts !== null);
  const all = new Map([...listBuiltIn(), ...above].map((setting) => [formatKey(setting.path), setting]));
  return [...all].filter(([, { raw }]) => raw !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A summary table that names no policy means the only one there is. */
function withSummaryPolicies(inForce: ReadonlyMap<string, Assignment>): readonly Assignment[] {
  const all = new Map(inForce);
  for (const { path, facts } of inForce.values()) {
    const isProfileKey = path[1] === "compaction" && path[2] === "profiles";
    if (!isProfileKey || path[4] !== "summary" || facts === null) continue;
    const policy = [...path.slice(0, 5), "policy"];
    const key = formatKey(policy);
    if (all.has(key)) continue;
    all.set(key, { path: policy, facts, raw: "summarize", value: "summarize", origin: { layer: "built-in" } });
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, assignment]) => assignment);
}

const COMPACTION: SettingPath = ["conversation", "compaction"];
const STRATEGY: SettingPath = [...COMPACTION, "strategy"];
const AUTO_ENABLED: SettingPath = [...COMPACTION, "auto", "enabled"];
const AUTO_PROFILE: SettingPath = [...COMPACTION, "auto", "profile"];

/**
 * A strategy that was set takes the place of the built-in profile of automatic compaction, not of one that was set. Where neither
 * was, `[compaction] auto = true` means what it says in the design that it is from (Compaction v2): tier by tier.
 */
function withStrategy(settings: readonly Assignment[]): readonly Assignment[] {
  const find = (path: SettingPath) => settings.find((setting) => formatKey(setting.path) === formatKey(path));
  if (find(AUTO_PROFILE) !== undefined) return settings;
  const strategy = find(STRATEGY);
  if (strategy !== undefined)
    return [...settings, { ...strategy, path: AUTO_PROFILE, raw: undefined, value: undefined }];
  const enabled = find(AUTO_ENABLED);
  if (enabled?.alias !== "compaction.auto" || enabled.value !== true) return settings;
  return [...settings, { ...enabled, path: AUTO_PROFILE, raw: "tiered", value: "tiered" }];
}

function tableAt(root: Table, path: SettingPath): Table {
  let table = root;
  for (const name of path) {
    const inner = table[name];
    const own = inner === undefined || Object.isFrozen(inner) ? ownCopy(inner) : (inner as Table);
    table[name] = own;
    table = own;
  }
  return table;
}

function ownCopy(table: unknown): Table {
  return Object.assign(Object.create(null), table);
}

/** What is frozen is shared with the built-in config. */
function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

/** The built-in settings, in the shape of a config file. */
export const BUILT_IN: Readonly<Record<string, unknown>> = {
  conversation: {
    model: "",
    system_prompt: "",
    compaction: {
      default_profile: "default",
      keep_last: 3,
      strategy: "auto",
      model: "",
      summarize_threshold: 0.5,
      index: true,
      fork: false,
      profiles: BUILT_IN_PROFILES,
      auto: { enabled: false, trigger_ratio: TRIGGER_RATIO, warning_ratio: 0.7, profile: "default", min_turns: 5 },
    },
    tools: Object.fromEntries(Object.entries(DEFAULT_TOOL_HINTS).map(([name, hint]) => [name, { compaction: hint }])),
  },
};

// The built-in settings as a finished config. They are ours, so nothing is checked at a start: a test reads them against the
// schema. Layers above copy the tables that they change and share the others.

type BuiltInTable = Readonly<Record<string, unknown>>;

/** The config of nobody's settings, frozen. Tables have no prototype. */
export const BUILT_IN_CONFIG: Config = holdTable({
  ...BUILT_IN,
  providers: {},
  mcp: { servers: {} },
  secrets: { allow: [] },
}) as unknown as Config;

/** Lists the built-in settings one by one, as a layer would give them; for listings only. */
export function listBuiltIn(): readonly Assignment[] {
  return leavesOf(BUILT_IN, []);
}

function leavesOf(table: BuiltInTable, path: SettingPath): readonly Assignment[] {
  return Object.entries(table).flatMap(([name, raw]): readonly Assignment[] => {
    const inner = [...path, name];
    if (isTable(raw)) return leavesOf(raw, inner);
    return [{ path: inner, facts: { expected: "" }, raw, value: heldAs(name, raw), origin: { layer: "built-in" } }];
  });
}

function holdTable(table: BuiltInTable): BuiltInTable {
  const held: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(table)) held[name] = heldAs(name, table[name]);
  return Object.freeze(held);
}

/** The built-in policies are words, which the config holds in full. */
function heldAs(name: string, raw: unknown): unknown {
  if (isTable(raw)) return holdTable(raw);
  return name === "tool_calls" ? Object.freeze(parseToolCallPolicy(raw, "tool_calls")) : raw;
}

function isTable(value: unknown): value is BuiltInTable {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

// The config of nobody's settings, without the schema, which is the larger part of loading a config. The test keeps it the
// same as what `loadConfig` gives.

/** Loads the config of nobody's settings: the same as `loadConfig` without a layer, and without the schema. */
export function loadBuiltIn(): LoadedConfig {
  return Object.assign(assembleConfig(new Map()), { ignored: [] });
}
