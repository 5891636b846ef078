// Layers: one source of settings each. Decides what a layer may set, and reads it into single assignments.
import * as z from "zod/mini";
import { nearestName } from "../core/errors.ts";
import { type Config, namedProviderOf, namedProviders } from "./config.ts";
import { formatKey, type LineOfKey, type SettingPath } from "./keys.ts";
import { findNode, namesUnder, replacementFor, type SettingFacts, type SettingNode } from "./schema.ts";

/** The layers, lowest first; a higher one wins. */
export type LayerName = "built-in" | "user" | "project" | "conversation" | "flag";

export interface SettingOrigin {
  readonly layer: LayerName;
  /** Absent for built-in values and flags. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
}

/** One layer's settings as plain tables. */
export interface Layer {
  readonly name: LayerName;
  readonly file?: string;
  readonly lineOf?: LineOfKey;
  readonly table: unknown;
}

/** One setting of a layer. */
export interface Assignment {
  readonly path: SettingPath;
  /** The written key, if it is an alias. */
  readonly alias?: string;
  /** Null for an empty table that still has a meaning, such as a profile without policies. */
  readonly facts: SettingFacts | null;
  /** As written. */
  readonly raw: unknown;
  /** As the config holds it; undefined = unsets a lower layer's value. */
  readonly value: unknown;
  readonly origin: SettingOrigin;
}

/** What is wrong with one key of a layer. */
export interface Problem {
  readonly code: "unknown_key" | "bad_value";
  /** Dotted key as written. */
  readonly key: string;
  readonly origin: SettingOrigin;
  /** What was expected, and received. */
  readonly reason: string;
  /** A similar name or word, if there is one. */
  readonly nearest?: string;
  /** What replaces a removed setting. */
  readonly replacement?: string;
  /** Whether the key needs trust. */
  readonly gated: boolean;
}

export interface LayerContents {
  /** In written order. */
  readonly assignments: readonly Assignment[];
  readonly problems: readonly Problem[];
}

/** Returns the origin of a layer's key. */
export function originOf({ name, file, lineOf }: Layer, path: SettingPath): SettingOrigin {
  const line = lineOf?.(path);
  return { layer: name, file, line };
}

/** Renders an origin: `file:line`, or the layer's name if it has no file. */
export function renderPlace({ layer, file, line }: SettingOrigin): string {
  return [file ?? layer, ...(line === undefined ? [] : [line])].join(":");
}

// Who may set what. A conversation may come from anybody, a project's file comes from its authors. Neither may name a program, an address, a
// key or the system prompt, nor enable what spends or sends, unless the user trusted the project's file (docs/config.md has the
// table).

/** What a conversation may set, as far as it is not gated: the model's name, how turns are compacted, and hints. */
const OPEN_TO_CONVERSATIONS: readonly SettingPath[] = [
  ["conversation", "model"],
  ["conversation", "compaction"],
  ["conversation", "tools"],
];

/** The setting that names a profile; an untrusted layer may only name one that asks no model. */
export const DEFAULT_PROFILE = "conversation.compaction.default_profile";

/** Whether the user wrote or trusted a layer: then only `refusalOfUsersOnly` refuses settings of it. */
export function isUserApproved(layer: LayerName, isTrusted: boolean): boolean {
  return layer === "built-in" || layer === "user" || layer === "flag" || (layer === "project" && isTrusted);
}

/** Says why an untrusted layer may not set a value; null when it may. `own`: the settings of all layers that the user approved. */
export function refusalOfSetting(
  layer: LayerName,
  { path, value }: Pick<Assignment, "path" | "value">,
  own: Config,
): string | null {
  if (layer === "conversation" && !isAllowedToConversations(path)) return "a conversation may not set it";
  if (isGated(path)) return "needs trust, which this project's file does not have";
  if (typeof value !== "string") return null;
  switch (formatKey(path)) {
    case "conversation.model":
      return refusalOfModel(value, own);
    case DEFAULT_PROFILE:
      return asksForSummary(value, own) ? `the profile ${value} has a model write a summary` : null;
    default:
      return null;
  }
}

/** Says why a layer may not set what only the user may, trusted or not; null when it may. */
export function refusalOfUsersOnly(layer: LayerName, path: SettingPath): string | null {
  if (layer !== "project" && layer !== "conversation") return null;
  const node = findNode(path)?.node;
  return node?.type === "setting" && node.facts.usersOnly === true ? "only your own settings may set it" : null;
}

/** Whether a conversation may set a key at all. */
export function isAllowedToConversations(path: SettingPath): boolean {
  const isOpen = OPEN_TO_CONVERSATIONS.some((table) => table.every((name, index) => name === path[index]));
  return isOpen && !isGated(path);
}

/** Whether a profile has a model write a summary. */
export function asksForSummary(profile: string, { conversation }: Config): boolean {
  return conversation.compaction.profiles[profile]?.summary !== undefined;
}

function refusalOfModel(model: string, own: Config): string | null {
  if (model === "") return null;
  const provider = namedProviderOf(model, own);
  if (provider === null) return "your own settings do not know its provider";
  return namedProviders(own).has(provider) ? null : `your own settings do not name ${provider}`;
}

/** Whether a key needs trust. An empty table already names a provider or a server. */
function isGated(path: SettingPath): boolean {
  if (path[0] === "providers" || path[0] === "mcp") return true;
  const node = findNode(path)?.node;
  return node?.type === "setting" && node.facts.gated === true;
}

// Reads a layer into single assignments, each under its full key. Never throws: the caller decides whether problems are errors or
// reported.

interface Reading {
  readonly layer: Layer;
  readonly seen: Set<string>;
  readonly assignments: Assignment[];
  readonly problems: Problem[];
}

/** Checks a layer's tables against the schema. */
export function readLayer(layer: Layer): LayerContents {
  const reading: Reading = { layer, seen: new Set(), assignments: [], problems: [] };
  if (isTable(layer.table)) readTable(reading, [], layer.table);
  else reading.problems.push(notATable(layer, [], layer.table));
  return { assignments: reading.assignments, problems: reading.problems };
}

function readTable(reading: Reading, path: SettingPath, table: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(table)) readEntry(reading, [...path, name], value);
}

function readEntry(reading: Reading, path: SettingPath, value: unknown): void {
  const { layer, assignments, problems } = reading;
  const found = findNode(path);
  if (found === null) problems.push(unknownKey(layer, path));
  else if (found.node.type === "setting")
    readSetting(reading, { written: path, path: found.path, node: found.node, value });
  else if (!isTable(value)) problems.push(notATable(layer, path, value));
  else {
    const isNamed = findNode(path.slice(0, -1))?.node.type === "named";
    const isEmpty = Object.keys(value).length === 0;
    if (isNamed && isEmpty)
      assignments.push({ path, facts: null, raw: value, value: undefined, origin: originOf(layer, path) });
    readTable(reading, path, value);
  }
}

interface WrittenSetting {
  readonly written: SettingPath;
  readonly path: SettingPath;
  readonly node: Extract<SettingNode, { type: "setting" }>;
  readonly value: unknown;
}

function readSetting(reading: Reading, { written, path, node, value: raw }: WrittenSetting): void {
  const { layer, seen, assignments, problems } = reading;
  const key = formatKey(path);
  const { schema, facts } = node;
  const isUnset = facts.unset !== undefined && raw === facts.unset;
  const parsed = isUnset ? { success: true, data: undefined } : z.safeParse(schema, raw);
  if (seen.has(key)) problems.push(setTwice(layer, written, path));
  else if (!parsed.success) problems.push(badValue(layer, written, facts, raw));
  else
    assignments.push({
      path,
      ...aliasOf(written, key),
      facts,
      raw,
      value: parsed.data,
      origin: originOf(layer, written),
    });
  seen.add(key);
}

function aliasOf(written: SettingPath, key: string): Pick<Assignment, "alias"> {
  const name = formatKey(written);
  return name === key ? {} : { alias: name };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

// Problems of a key: expected, received, nearest.

const SHOWN_CHARACTERS = 60;

/** Creates the problem of a key that no setting has. */
export function unknownKey(layer: Layer, path: SettingPath): Problem {
  const table = path.slice(0, -1);
  const name = path[path.length - 1] ?? "";
  const names = namesUnder(table);
  const replacement = replacementFor(path);
  const near = replacement === null ? nearestName(name, names) : undefined;
  const expected = names.length > 0 ? `one of ${names.join(", ")}` : "another name";
  return {
    code: "unknown_key",
    key: formatKey(path),
    origin: originOf(layer, path),
    reason: `expected ${expected}, received ${formatKey([name])}`,
    gated: false,
    ...(replacement === null ? {} : { replacement }),
    nearest: near === undefined ? undefined : formatKey([...table, near]),
  };
}

/** Creates the problem of a value that its setting does not accept. */
export function badValue(layer: Layer, path: SettingPath, facts: SettingFacts, value: unknown): Problem {
  const received = facts.hidden === undefined ? describeValue(value) : "a value that is not shown";
  const replacement = replacementFor(path, value);
  const isNear = replacement === null && typeof value === "string" && facts.words !== undefined;
  const near = isNear ? nearestName(value, facts.words) : undefined;
  return {
    code: "bad_value",
    key: formatKey(path),
    origin: originOf(layer, path),
    reason: `expected ${facts.expected}, received ${received}`,
    gated: facts.gated === true,
    ...(replacement === null ? {} : { replacement }),
    nearest: near === undefined ? undefined : `"${near}"`,
  };
}

/** Creates the problem of a value where a table is expected. */
export function notATable(layer: Layer, path: SettingPath, value: unknown): Problem {
  return mismatch(layer, path, `expected a table of settings, received ${describeValue(value)}`);
}

/** Creates the problem of a setting that one layer sets under two names. */
export function setTwice(layer: Layer, path: SettingPath, canonical: SettingPath): Problem {
  return mismatch(layer, path, `expected ${formatKey(canonical)} once, received it under two names`);
}

function mismatch(layer: Layer, path: SettingPath, reason: string): Problem {
  return { code: "bad_value", key: formatKey(path), origin: originOf(layer, path), reason, gated: false };
}

function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `the text ${JSON.stringify(shorten(value))}`;
    case "number":
      return `the number ${value}`;
    case "boolean":
      return String(value);
    default:
      return describeObject(value);
  }
}

function describeObject(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return value instanceof Date ? "a date" : "a table";
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
