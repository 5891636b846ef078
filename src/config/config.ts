// The settings of jpg after all layers: fully defaulted, readonly, named as in the TOML files. Tables named by the user
// (profiles, tools, providers, servers) have no prototype, so that a tool called `constructor` is simply absent.
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
  /** Profile or pipeline; absent = the strategy, which somebody set while nobody set this. */
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
  /** What a bare `--strategy` means. */
  readonly strategy: StrategyName | PipelineName;
  /** Summary model; empty = choose. */
  readonly model: string;
  /** Share of the context window above which the strategy `auto` adds a summary, 0..1. */
  readonly summarize_threshold: number;
  /** How new summaries stand in the view. */
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
  /** `remove` takes the call away together with its result. */
  readonly response?: FieldPolicy | "remove";
  /** Equal calls are duplicates of the newest one. */
  readonly dedup?: boolean;
  /** Program that says whether a later call makes an earlier one obsolete; only from a trusted layer. */
  readonly subsumes?: string;
}

interface ToolConfig {
  readonly compaction?: ToolCompactionConfig;
}

/** Where a provider is reached and how its key is got; only from a trusted layer. */
export interface ProviderConfig {
  readonly base_url?: string;
  /** Beats the key command. */
  readonly api_key?: string;
  /** Program that prints the key. */
  readonly key_command?: string;
  /** Which API it speaks; absent = its usual one, else `openai-chat`. */
  readonly api?: ProviderApi;
  /** Most tokens that the models of the provider see at once; >= 1. */
  readonly context_tokens?: number;
}

/** An MCP server to start; only from a trusted layer. */
export interface McpServerConfig {
  readonly command?: string;
  readonly args?: readonly string[];
  /** Environment variables that it gets beside jpg's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Time for one call, milliseconds, >= 1. */
  readonly timeout_ms?: number;
  /** Ask before each call. */
  readonly confirm?: boolean;
}

export interface Config {
  readonly conversation: {
    /** Model that answers; empty = the one that answered last. */
    readonly model: string;
    /** What every request begins with; empty = nothing. Only from a trusted layer. */
    readonly system_prompt: string;
    readonly compaction: CompactionConfig;
    /** By tool name; `*` = every other tool. */
    readonly tools: Readonly<Record<string, ToolConfig>>;
  };
  /** By provider name. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly secrets: {
    /** Fingerprints of secrets that may leave, as `jpg scan` and `jpg push` give them. */
    readonly allow: readonly string[];
  };
  readonly mcp: {
    /** By server name. */
    readonly servers: Readonly<Record<string, McpServerConfig>>;
  };
}

// The tools that requests of a conversation offer, as its records under config/ name them: the newest list holds. They are no
// setting; their definitions stand in attachments, so that reading settings reads none.

/** A tool by name, and the attachment that holds its definition; absent = only the name is known. */
export interface RecordedTool {
  readonly name: string;
  readonly definition?: string;
}

const DEFINITION = /^[0-9a-f]{64}\.json$/;

/** Gives the newest list; null when there is none. `deltas` oldest first, as `selectDeltas` gives them. */
export function recordedTools(deltas: readonly StoredDelta[]): readonly RecordedTool[] | null {
  const newest = deltas.map(({ delta }) => toolsOf(delta)).findLast((tools) => tools !== null);
  return newest?.flatMap((tool) => readTool(tool) ?? []) ?? null;
}

/** What a delta sets. */
export function settingsOf(delta: unknown): unknown {
  if (toolsOf(delta) === null || !isFields(delta)) return delta;
  const { tools: _, ...settings } = delta;
  return settings;
}

/** Writes a list as what a record sets. */
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

// The conversation's layer: one file per change under config/, one line each. A damaged or foreign file never keeps a
// conversation from being read; it comes as a delta with a problem and is reported.

/** A config delta as read from its file. */
export interface StoredDelta {
  readonly file: string;
  /** Turn position from which it holds, 0-based; 0 when the file names none. */
  readonly at_turn: number;
  readonly timestamp: string;
  readonly id: string;
  readonly delta: unknown;
  /** Why the file could not be read as a delta; then `delta` is undefined. */
  readonly problem?: string;
}

/** Parses the content of a delta's file; a content that is none gives a delta with a `problem`. */
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
 * Selects the deltas that hold at a turn (0-based; absent = the newest), oldest first: the later one wins. A `null` takes back
 * what older ones set there, key or table: neither it nor these are in what is given.
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

/** What newer deltas take back, by name; null = all that stands there. */
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

// The providers that settings name: those that have a table, and those of the models that are named. Only these may be sent
// a conversation's text; which layers may name one is layers.ts's to say (decision 019).

/** Lists the names of the providers that the settings name. */
export function namedProviders(config: Config): ReadonlySet<string> {
  const { model, compaction } = config.conversation;
  const summaries = Object.values(compaction.profiles).map(({ summary }) => summary?.model);
  const models = [model, compaction.model, ...summaries].flatMap((name) => {
    const provider = name === undefined ? null : namedProviderOf(name, config);
    return provider === null ? [] : [provider];
  });
  return new Set([...Object.keys(config.providers), ...models]);
}

/** The provider of a model by its name; null where it is none that can be told. */
export function namedProviderOf(model: string, { providers }: Pick<Config, "providers">): string | null {
  try {
    return parseModelName(model, Object.keys(providers)).provider;
  } catch (error) {
    if (error instanceof JpgError) return null;
    throw error;
  }
}

/** Gives the hints of a config, by tool name; `*` = every tool that has no word of its own. No prototype. */
export function toolHints({ conversation }: Config): ToolCompactionHints {
  const hints: Record<string, ToolCompactionHints[string]> = Object.create(null);
  for (const [name, { compaction }] of Object.entries(conversation.tools)) {
    if (compaction !== undefined) hints[name] = compaction;
  }
  return hints;
}
