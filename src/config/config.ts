// jpg's settings after all layers: with defaults, readonly, named as in the TOML files. Tables with user-chosen names (profiles,
// tools, providers, servers) have no prototype, so that a tool called `constructor` is simply absent.
import type { PipelineName, StrategyName } from "../core/compact/strategies/strategy-names.ts";
import type { ToolCompactionHints } from "../core/compact/tool-hints.ts";
import { compareTimestamps, type FieldPolicy, type Injection } from "../core/conversation/compaction.ts";
import { isFields } from "../core/conversation/event.ts";
import type { Profile } from "../core/conversation/policy.ts";
import { JpgError } from "../core/errors.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../core/json.ts";
import { parseModelName } from "../core/model/model-name.ts";
import type { ProviderApi } from "../core/model/model-provider.ts";

/** When jpg compacts on its own. */
interface AutoConfig {
  readonly enabled: boolean;
  /** Share of the context window above which it compacts, 0..1. */
  readonly trigger_ratio: number;
  /** Share of the context window above which it warns, 0..1. */
  readonly warning_ratio: number;
  /** Profile or pipeline; absent = `strategy`, which was set while this was not. */
  readonly profile?: string;
  /** Fewer turns than this are never compacted; >= 0. */
  readonly min_turns: number;
}

export interface CompactionConfig {
  readonly default_profile: string;
  /** Newest turns left alone; >= 0. */
  readonly keep_last: number;
  /** Newest messages left alone, rounded up to whole turns; >= 0; absent = only `keep_last` counts. */
  readonly protected_messages?: number;
  /** Used for `--strategy` without a name. */
  readonly strategy: StrategyName | PipelineName;
  /** Summary model; empty = jpg chooses. */
  readonly model: string;
  /** Share of the context window above which the strategy `auto` adds a summary, 0..1. */
  readonly summarize_threshold: number;
  /** How new summaries appear in the view. */
  readonly inject?: Injection;
  /** Whether new compactions carry an index of what the view hides. */
  readonly index: boolean;
  /** Compact onto a fork by default. */
  readonly fork: boolean;
  /** By profile name. */
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly auto: AutoConfig;
}

/** How one tool's calls are compacted; absent = as the profile says. */
interface ToolCompactionConfig {
  readonly request?: FieldPolicy;
  /** `remove` removes the call together with its result. */
  readonly response?: FieldPolicy | "remove";
  /** Equal calls are duplicates of the newest one. */
  readonly dedup?: boolean;
  /** Program that decides whether a later call makes an earlier one obsolete; only from a trusted layer. */
  readonly subsumes?: string;
}

interface ToolConfig {
  readonly compaction?: ToolCompactionConfig;
}

/** A provider's address and key; only from a trusted layer. */
export interface ProviderConfig {
  readonly base_url?: string;
  /** Takes precedence over `key_command`. */
  readonly api_key?: string;
  /** Program that prints the key. */
  readonly key_command?: string;
  /** Its API; absent = the provider's usual one, else `openai-chat`. */
  readonly api?: ProviderApi;
  /** Context window of the provider's models, tokens; >= 1. */
  readonly context_tokens?: number;
}

/** An MCP server to start; only from a trusted layer. */
export interface McpServerConfig {
  readonly command?: string;
  readonly args?: readonly string[];
  /** Environment variables in addition to jpg's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Time limit of one call, milliseconds, >= 1. */
  readonly timeout_ms?: number;
  /** Ask before each call. */
  readonly confirm?: boolean;
}

export interface Config {
  readonly conversation: {
    /** Model that answers; empty = the one that answered last. */
    readonly model: string;
    /** Start of every request; empty = nothing. Only from a trusted layer. */
    readonly system_prompt: string;
    readonly compaction: CompactionConfig;
    /** By tool name; `*` = every other tool. */
    readonly tools: Readonly<Record<string, ToolConfig>>;
  };
  /** By provider name. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly secrets: {
    /** Fingerprints, from `jpg scan` or `jpg push`, of secrets that may be pushed. */
    readonly allow: readonly string[];
  };
  readonly mcp: {
    /** By server name. */
    readonly servers: Readonly<Record<string, McpServerConfig>>;
  };
}

// The tools offered in a conversation's requests, from its records under config/: the newest list counts. They are not settings.
// Their definitions are attachments, so that reading settings reads none.

/** A tool and the attachment with its definition; absent = only the name is known. */
export interface RecordedTool {
  readonly name: string;
  readonly definition?: string;
}

const DEFINITION = /^[0-9a-f]{64}\.json$/;

/** Finds the newest list; null when there is none. `deltas` oldest first, as from `selectDeltas`. */
export function recordedTools(deltas: readonly StoredDelta[]): readonly RecordedTool[] | null {
  const newest = deltas.map(({ delta }) => toolsOf(delta)).findLast((tools) => tools !== null);
  return newest?.flatMap((tool) => readTool(tool) ?? []) ?? null;
}

/** A delta without its tools. */
export function settingsOf(delta: unknown): unknown {
  if (toolsOf(delta) === null || !isFields(delta)) return delta;
  const { tools: _, ...settings } = delta;
  return settings;
}

/** Formats a tool list as a delta. */
export function toolsDelta(tools: readonly Required<RecordedTool>[]): object {
  return { tools: tools.map(({ name, definition }) => ({ name, definition: { $attachment: definition } })) };
}

function toolsOf(delta: unknown): readonly unknown[] | null {
  return isFields(delta) && Array.isArray(delta["tools"]) ? (delta["tools"] as readonly unknown[]) : null;
}

function readTool(tool: unknown): RecordedTool | null {
  if (typeof tool === "string") return tool === "" ? null : { name: tool };
  if (!isFields(tool) || typeof tool["name"] !== "string" || tool["name"] === "") return null;
  const { name, definition } = tool;
  const attachment = isFields(definition) ? definition["$attachment"] : undefined;
  const isNamed = typeof attachment === "string" && DEFINITION.test(attachment);
  return { name, ...(isNamed ? { definition: attachment } : {}) };
}

// The conversation's layer: one file per change under config/, one line each. A damaged or foreign file does not keep a conversation
// from being read: it becomes a delta with a problem and is reported.

export interface StoredDelta {
  readonly file: string;
  /** Turn position from which it holds, 0-based; 0 when the file names none. */
  readonly at_turn: number;
  readonly timestamp: string;
  readonly id: string;
  readonly delta: unknown;
  /** Why the file is no delta; then `delta` is undefined. */
  readonly problem?: string;
}

/** Parses a delta's file; other content gives a delta with a `problem`. */
export function parseConfigDelta(text: string, file: string): StoredDelta {
  const record = parseRecord(text);
  if (record === null) return damaged(file, "expected one line of JSON, an object");
  const { type, id, timestamp, at_turn: atTurn = 0, delta } = record;
  if (type !== "config_delta") return damaged(file, 'expected the type "config_delta"');
  if (typeof id !== "string" || typeof timestamp !== "string")
    return damaged(file, "expected the texts id and timestamp");
  if (typeof atTurn !== "number" || !Number.isInteger(atTurn) || atTurn < 0) {
    return damaged(file, "expected at_turn to be a turn position, 0 or more");
  }
  return { file, at_turn: atTurn, timestamp, id, delta };
}

/**
 * Selects the deltas in force at a turn (0-based; absent = the newest), oldest first: the later one wins. A `null` unsets what
 * older ones set there, key or table: the result has neither.
 */
export function selectDeltas(deltas: readonly StoredDelta[], turn: number = Number.POSITIVE_INFINITY): StoredDelta[] {
  const unset: UnsetNames = new Map();
  const newestFirst = deltas.filter(({ at_turn }) => at_turn <= turn).sort((a, b) => compareDeltas(b, a));
  const held = newestFirst.map((stored) => {
    const delta = withoutUnset(stored.delta, unset);
    collectUnset(stored.delta, unset);
    return { ...stored, delta };
  });
  return held.reverse();
}

/** What newer deltas unset, by name; null = everything there. */
type UnsetNames = Map<string, UnsetNames | null>;

function withoutUnset(table: unknown, unset: UnsetNames): unknown {
  if (!isFields(table)) return table;
  const kept = Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    const inner = unset.get(name);
    if (inner === null || value === null) return [];
    const left = withoutUnset(value, inner ?? new Map());
    return isEmpty(left) && !isEmpty(value) ? [] : [[name, left]];
  });
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  return isFields(value) && Object.keys(value).length === 0;
}

function collectUnset(table: unknown, unset: UnsetNames): void {
  for (const [name, value] of isFields(table) ? Object.entries(table) : []) {
    const known = unset.get(name);
    if (value === null) unset.set(name, null);
    if (known === null || !isFields(value)) continue;
    const inner = known ?? new Map();
    collectUnset(value, inner);
    if (inner.size > 0) unset.set(name, inner);
  }
}

function compareDeltas(a: StoredDelta, b: StoredDelta): number {
  const byTime = compareTimestamps(a.timestamp, b.timestamp);
  if (byTime !== 0) return byTime;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function damaged(file: string, problem: string): StoredDelta {
  return { file, at_turn: 0, timestamp: "", id: "", delta: undefined, problem };
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) && !isTooDeep(text, value, MAX_RECORD_DEPTH) ? { ...value } : null;
  } catch {
    return null; // reported by the caller as a damaged file
  }
}

// The providers that settings name: by a table of their own, or by a model. Only these may be sent a conversation's text; layers.ts
// decides which layers may name one (docs/decisions/models.md).

export function namedProviders(config: Config): ReadonlySet<string> {
  const { model, compaction } = config.conversation;
  const summaries = Object.values(compaction.profiles).map(({ summary }) => summary?.model);
  const models = [model, compaction.model, ...summaries].flatMap((name) => {
    const provider = name === undefined ? null : namedProviderOf(name, config);
    return provider === null ? [] : [provider];
  });
  return new Set([...Object.keys(config.providers), ...models]);
}

/** The provider in a model's name; null if it cannot be determined. */
export function namedProviderOf(model: string, { providers }: Pick<Config, "providers">): string | null {
  try {
    return parseModelName(model, Object.keys(providers)).provider;
  } catch (error) {
    if (error instanceof JpgError) return null;
    throw error;
  }
}

/** Tool hints by tool name; `*` = every tool without its own. No prototype. */
export function toolHints({ conversation }: Config): ToolCompactionHints {
  const hints: Record<string, ToolCompactionHints[string]> = Object.create(null);
  for (const [name, { compaction }] of Object.entries(conversation.tools)) {
    if (compaction !== undefined) hints[name] = compaction;
  }
  return hints;
}
