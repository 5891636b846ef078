// Loads the config: reads and checks every layer, and merges them from the built-in settings up. Each setting records its origin.
// The user's own mistakes are errors; what an untrusted layer may not set is ignored and listed.
import { parse } from "smol-toml";
import * as z from "zod/mini";
import { TRIGGER_RATIO } from "../core/compact/automatic.ts";
import { DEFAULT_TOOL_HINTS } from "../core/compact/tool-hints.ts";
import { BUILT_IN_PROFILES } from "../core/conversation/policy.ts";
import { asSentence, JpgError, userError } from "../core/errors.ts";
import type { Config } from "./config.ts";
import { formatKey, parseToml, type SettingPath, scanKey } from "./keys.ts";
import {
  type Assignment,
  DEFAULT_PROFILE,
  isAllowedToConversations,
  isUserApproved,
  type Layer,
  type LayerName,
  type Problem,
  readLayer,
  refusalOfSetting,
  refusalOfUsersOnly,
  renderPlace,
  type SettingOrigin,
} from "./layers.ts";
import { resolveShortKey, type SettingNode } from "./schema.ts";

/** A config file as the caller read it. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** A delta of the conversation's layer; `problem` says why a file is none. */
export interface ConversationDelta {
  readonly file: string;
  readonly at_turn: number;
  readonly delta: unknown;
  readonly problem?: string;
}

export interface ConfigInput {
  readonly user?: ConfigFile;
  /** `trusted`: the user ran `jpg trust` for exactly this text. */
  readonly project?: ConfigFile & { readonly trusted: boolean };
  /** Oldest first, only those in force at the turn in question (see `selectDeltas`). */
  readonly conversation: readonly ConversationDelta[];
  /** KEY=VALUE of each --cfg, in the order typed. */
  readonly overrides: readonly string[];
  /** Providers that the user named for this conversation earlier. */
  readonly named?: readonly string[];
}

/** A setting of a layer that does not count. */
export interface IgnoredSetting {
  /** Dotted key; empty for a whole file. */
  readonly key: string;
  readonly layer: LayerName;
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  readonly reason: string;
  /** As written; absent if it is of no use, or for a whole file. */
  readonly value?: unknown;
}

export interface LoadedConfig {
  /** Frozen. Tables have no prototype: any name that nobody set is undefined. */
  readonly config: Config;
  /** As written, sorted by dotted key; only what is in force. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Origin of each value, by dotted key; same keys as `values`. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  /** Lowest layer first. */
  readonly ignored: readonly IgnoredSetting[];
}

/** The lowest layer, in the form of a config file. */
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

interface Source {
  readonly layer: Layer;
  readonly isTrusted: boolean;
  /** Name for errors about settings without a file. */
  readonly displayName?: string;
}

/**
 * Loads the config from its layers: built-in < user < project < conversation < flags. Throws `bad_toml`, `unknown_key` and
 * `bad_value` for the user's and the project's file, the latter two and `bad_override` for --cfg; never for a conversation's
 * layer.
 */
export function loadConfig(input: ConfigInput): LoadedConfig {
  const ignored: IgnoredSetting[] = [];
  for (const { file, problem } of input.conversation) {
    if (problem !== undefined) ignored.push({ key: "", layer: "conversation", file, reason: problem });
  }
  const layers = listSources(input).map((source) => {
    const { assignments, problems } = readLayer(source.layer);
    for (const problem of problems) handleProblem(problem, source, ignored);
    return { name: source.layer.name, isApproved: isUserApproved(source.layer.name, source.isTrusted), assignments };
  });
  const named = (input.named ?? []).map(nameProvider);
  const approved = layers.filter((layer) => layer.isApproved).flatMap(({ assignments }) => assignments);
  const own = configOf(inForceOf([...named, ...approved]));
  const counting = layers.flatMap(({ name, isApproved, assignments }) =>
    assignments.filter((assignment) => {
      const reason =
        refusalOfUsersOnly(name, assignment.path) ?? (isApproved ? null : refusalOfSetting(name, assignment, own));
      if (reason === null) return true;
      ignored.push({ key: formatKey(assignment.path), reason, value: assignment.raw, ...assignment.origin });
      return false;
    }),
  );
  const inForce = inForceOf([...named, ...counting]);
  const listed = [...inForce]
    .filter(([, { facts, raw }]) => facts !== null && raw !== undefined)
    .sort(([a], [b]) => compareKeys(a, b));
  return {
    config: configOf(inForce),
    values: new Map(listed.map(([key, { raw }]) => [key, raw])),
    origins: new Map(listed.map(([key, { origin }]) => [key, origin])),
    ignored,
  };
}

type InForce = ReadonlyMap<string, Assignment>;

/** The winning assignment of each key, and what follows from it: built-in keys in their own order, then the rest sorted by key. */
function inForceOf(assignments: readonly Assignment[]): InForce {
  const keyed = assignments.map((assignment) => [formatKey(assignment.path), assignment] as const);
  const above = keyed.filter(([, setting]) => !isBuiltIn(setting)).sort(([a], [b]) => compareKeys(a, b));
  const inForce = new Map([...keyed.filter(([, setting]) => isBuiltIn(setting)), ...above]);
  for (const setting of [...summaryPolicies(inForce), ...automaticProfile(inForce)])
    inForce.set(formatKey(setting.path), setting);
  return inForce;
}

function isBuiltIn({ origin }: Assignment): boolean {
  return origin.layer === "built-in";
}

function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A summary table without a policy means the only one there is. */
function summaryPolicies(inForce: InForce): readonly Assignment[] {
  return [...inForce.values()].flatMap(({ path, facts }): readonly Assignment[] => {
    const isProfileKey = path[1] === "compaction" && path[2] === "profiles";
    if (!isProfileKey || path[4] !== "summary" || facts === null) return [];
    const policy = [...path.slice(0, 5), "policy"];
    if (inForce.has(formatKey(policy))) return [];
    return [{ path: policy, facts, raw: "summarize", value: "summarize", origin: { layer: "built-in" } }];
  });
}

const AUTO: SettingPath = ["conversation", "compaction", "auto"];

/**
 * A strategy that was set replaces the built-in profile of automatic compaction, but not a profile that was set. If neither was,
 * `[compaction] auto = true` means what it says in the design that it is from (Compaction v2): tier by tier.
 */
function automaticProfile(inForce: InForce): readonly Assignment[] {
  const path = [...AUTO, "profile"];
  const findSet = (key: string): Assignment | undefined => {
    const setting = inForce.get(key);
    return setting === undefined || isBuiltIn(setting) ? undefined : setting;
  };
  if (findSet(formatKey(path)) !== undefined) return [];
  const strategy = findSet("conversation.compaction.strategy");
  if (strategy !== undefined) return [{ ...strategy, path, raw: undefined, value: undefined }];
  const enabled = findSet(formatKey([...AUTO, "enabled"]));
  if (enabled?.alias !== "compaction.auto" || enabled.value !== true) return [];
  return [{ ...enabled, path, raw: "tiered", value: "tiered" }];
}

type Table = Record<string, unknown>;

function configOf(inForce: InForce): Config {
  const root: Table = Object.create(null);
  tableAt(root, ["providers"]);
  tableAt(root, ["mcp", "servers"]);
  tableAt(root, ["secrets"])["allow"] = [];
  for (const { path, facts, value } of inForce.values()) {
    const table = tableAt(root, facts === null ? path : path.slice(0, -1));
    if (facts !== null && value !== undefined) table[path.at(-1) ?? ""] = value;
  }
  // The schema checked each value, and it is a schema of Config.
  return freeze(root) as unknown as Config;
}

function tableAt(root: Table, path: SettingPath): Table {
  let table = root;
  for (const name of path) {
    table[name] ??= Object.create(null);
    table = table[name] as Table;
  }
  return table;
}

function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

/** An empty provider table names the provider. */
function nameProvider(name: string): Assignment {
  return { path: ["providers", name], facts: null, raw: {}, value: undefined, origin: { layer: "user" } };
}

/** Settings of one file that are reported singly; more are counted. */
const MAX_LINES_PER_FILE = 3;

/** Renders ignored settings as warnings, one line each, with what to do about it. */
export function renderIgnored(ignored: readonly IgnoredSetting[]): readonly string[] {
  const byFile = new Map<string, IgnoredSetting[]>();
  for (const setting of ignored) {
    const file = setting.file ?? "";
    byFile.set(file, [...(byFile.get(file) ?? []), setting]);
  }
  return [...byFile.values()].flatMap((settings) =>
    settings.length > MAX_LINES_PER_FILE ? [renderMany(settings)] : settings.map(renderOne),
  );
}

function renderOne({ key, reason, ...origin }: IgnoredSetting): string {
  return `${renderPlace(origin)}: ignored ${key === "" ? "the file" : key}: ${reason}${remedyFor(origin)}`;
}

function renderMany(settings: readonly IgnoredSetting[]): string {
  const { layer, file } = settings[0] ?? { layer: "project" };
  const named = settings.slice(0, MAX_LINES_PER_FILE).map(({ key }) => key);
  const why = layer === "project" ? "they need trust" : "a conversation may not set them";
  return `${file ?? layer}: ignored ${settings.length} settings (${named.join(", ")} …): ${why}${remedyFor({ layer })}`;
}

function remedyFor({ layer }: Pick<SettingOrigin, "layer">): string {
  return layer === "project" ? "; `jpg trust --dry-run` shows what trust would allow" : "";
}

function listSources({ user, project, conversation, overrides }: ConfigInput): Source[] {
  const sources: Source[] = [{ layer: { name: "built-in", table: BUILT_IN }, isTrusted: true }];
  if (user !== undefined) sources.push({ layer: fileLayer("user", user), isTrusted: true });
  if (project !== undefined) sources.push({ layer: fileLayer("project", project), isTrusted: project.trusted });
  for (const { file, delta, problem } of conversation) {
    if (problem !== undefined) continue;
    sources.push({ layer: { name: "conversation", file, lineOf: () => 1, table: delta }, isTrusted: false });
  }
  for (const text of overrides) {
    const override = parseOverride(text);
    const displayName = `--cfg ${formatKey(override.path)}`;
    sources.push({ layer: { name: "flag", table: toTable(override) }, isTrusted: true, displayName });
  }
  return sources;
}

function fileLayer(name: LayerName, { path, text }: ConfigFile): Layer {
  return { name, file: path, ...parseToml(text, path) };
}

function handleProblem(problem: Problem, { layer, isTrusted, displayName }: Source, ignored: IgnoredSetting[]): void {
  const { code, key, origin, reason, nearest, replacement, gated } = problem;
  if (layer.name === "conversation" || (gated && !isTrusted)) {
    ignored.push({ key, reason: code === "unknown_key" ? "unknown key" : reason, ...origin });
    return;
  }
  const where = displayName ?? renderPlace(origin);
  const what = code === "unknown_key" ? `unknown key ${key}` : `bad value of ${key}`;
  throw new JpgError("config", code, `${displayName ?? `${where}: ${what}`}: ${asSentence(reason)}`, {
    hints: [replacement ?? (nearest === undefined ? `Correct ${where}.` : `Did you mean ${nearest}?`)],
    data: { key, ...origin, nearest },
  });
}

/** A setting of the command line. */
export interface Override {
  /** The full path. */
  readonly path: SettingPath;
  readonly value: unknown;
  /** As typed. */
  readonly text: string;
}

/**
 * Parses `KEY=VALUE`. The prefixes `conversation.compaction.` and `conversation.` may be omitted; VALUE is TOML, else plain text.
 * Throws `bad_override` and `unknown_key`. `loadConfig` checks the value.
 */
export function parseOverride(text: string): Override {
  const key = scanKey(text, 0);
  if (key === null || text[key.end] !== "=") throw badOverride(text, "expected KEY=VALUE");
  const { path, node } = resolveShortKey(key.path);
  return { path, value: parseValue(node, text.slice(key.end + 1).trim()), text };
}

/** Converts an override to nested tables, the form of a config file. */
export function toTable({ path, value }: Override): Readonly<Record<string, unknown>> {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<Record<string, unknown>>;
}

/**
 * Merges overrides to the delta that a conversation stores; the later one wins. Omits settings that a conversation may not set
 * (programs, addresses, what spends or sends): they apply to this call only. Null when nothing remains to store. `loadConfig`
 * reports invalid overrides.
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

/** A text setting gets a text even if it could be read as a number or a date. */
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
