// The settings of jpg after all layers: fully defaulted, readonly, named as in the TOML files. Tables named by the user
// (profiles, tools, providers, servers) have no prototype, so that a tool called `constructor` is simply absent.

import type { PipelineName, StrategyName } from "../core/compact/strategies/strategy-names.ts";
import type { FieldPolicy, Injection } from "../core/conversation/compaction.ts";
import type { Profile } from "../core/conversation/policy.ts";
import type { ProviderApi } from "../core/model/model-provider.ts";

/** When jpg compacts on its own. */
export interface AutoConfig {
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
export interface ToolCompactionConfig {
  readonly request?: FieldPolicy;
  /** `remove` takes the call away together with its result. */
  readonly response?: FieldPolicy | "remove";
  /** Equal calls are duplicates of the newest one. */
  readonly dedup?: boolean;
  /** Program that says whether a later call makes an earlier one obsolete; only from a trusted layer. */
  readonly subsumes?: string;
}

export interface ToolConfig {
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
  /** Where the files of `gguf` are: absolute, or beginning with `~/`. */
  readonly folder?: string;
  /** Folder in which node-llama-cpp was installed: absolute, or beginning with `~/`; absent = in the user's data folder. */
  readonly library?: string;
  /** Most tokens that a model of `gguf` sees at once; >= 1. */
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
