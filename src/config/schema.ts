// The schema of every setting: its type, what errors say was expected, and who may set it. A new setting is one line here and one in
// config.ts.
import * as z from "zod/mini";
import { $ZodObject, $ZodOptional, $ZodRecord, type $ZodType } from "zod/v4/core";
import { FORMER_STRATEGIES, PIPELINE_NAMES, STRATEGY_NAMES } from "../core/compact/strategies/strategy-names.ts";
import type { StripPolicies } from "../core/conversation/compaction.ts";
import { CONTENT_TYPES } from "../core/conversation/contents/content-types.ts";
import { parseToolCallPolicy } from "../core/conversation/contents/tool-calls.ts";
import { JpgError, nearestName } from "../core/errors.ts";
import { PROVIDER_APIS, SERVE_A_FILE } from "../core/model/model-provider.ts";
import type { Config } from "./config.ts";
import { formatKey, isSafeName, type SettingPath } from "./keys.ts";

export interface SettingFacts {
  /** Completes "expected …" in an error. */
  readonly expected: string;
  /** Accepted words, for suggestions. */
  readonly words?: readonly string[];
  /**
   * Names a program or an address, speaks to the model in the user's name, or enables what spends or sends: counts only from the
   * user, a trusted project and the command line.
   */
  readonly gated?: true;
  /** Protects the user from others: no project may set it, even if trusted. */
  readonly usersOnly?: true;
  /** May hold a secret: never shown in an error; listings hide all of it, or the credentials in an address. */
  readonly hidden?: "all" | "credentials";
  /** The word that unsets a lower layer's value. */
  readonly unset?: string;
}

/** The facts of each setting, by its schema. */
const settingFacts: z.core.$ZodRegistry<SettingFacts> = z.registry<SettingFacts>();

function setting<S extends z.ZodMiniType>(schema: S, expected: string, facts: Omit<SettingFacts, "expected"> = {}): S {
  settingFacts.add(schema, { expected, ...facts });
  return schema;
}

function oneOf<const W extends readonly [string, ...string[]]>(
  words: W,
  facts: Omit<SettingFacts, "expected" | "words"> = {},
): z.ZodMiniEnum<{ [K in W[number]]: K }> {
  const all = facts.unset === undefined ? words : [...words, facts.unset];
  const expected = all.map((word) => `"${word}"`).join(" or ");
  return setting(z.enum(words), expected, { words: all, ...facts });
}

type Gate = Pick<SettingFacts, "gated">;
const GATED: Gate = { gated: true };

const flag = (gate: Gate = {}) => setting(z.boolean(), "true or false", gate);
const count = (what: string, gate: Gate = {}) =>
  setting(z.int().check(z.minimum(0)), `a whole number of ${what}, 0 or more`, gate);
const share = (gate: Gate = {}) => setting(z.number().check(z.minimum(0), z.maximum(1)), "a share from 0 to 1", gate);
const text = (what: string, gate: Gate = {}) => setting(z.string(), what, gate);
const name = (what: string, gate: Gate = {}) => setting(z.string().check(z.minLength(1)), what, gate);

const TOOL_CALL_WORDS = ["strip", "strip-responses", "strip-requests", "omit"] as const;

/** Only the form is checked here, so that no misspelt key passes; core gives it its meaning. */
const toolCalls = setting(
  z.pipe(
    z.union([
      z.enum(TOOL_CALL_WORDS),
      z.strictObject({
        policy: z.literal("strip"),
        request: z.exactOptional(z.boolean()),
        response: z.exactOptional(z.boolean()),
      }),
      z.strictObject({
        policy: z.literal("truncate"),
        max_chars: z.int().check(z.minimum(1)),
        head: z.exactOptional(z.number().check(z.minimum(0), z.maximum(1))),
      }),
      z.strictObject({ policy: z.literal("omit") }),
    ]),
    z.transform((form) => parseToolCallPolicy(form, "tool_calls")),
  ),
  [
    ...TOOL_CALL_WORDS.map((word) => `"${word}"`),
    '"keep"',
    '{ policy = "strip", request = false }',
    'or { policy = "truncate", max_chars = 2000, head = 0.5 }',
  ].join(", "),
  { words: [...TOOL_CALL_WORDS, "keep"], unset: "keep" },
);

type PolicySettings = {
  readonly [Key in keyof StripPolicies]-?: z.ZodMiniExactOptional<z.ZodMiniEnum<{ strip: "strip" }>>;
} & { readonly tool_calls: z.ZodMiniExactOptional<typeof toolCalls> };

/** A policy for each content type. */
const POLICY_SETTINGS = Object.fromEntries(
  CONTENT_TYPES.flatMap(({ content, words }): [string, z.ZodMiniType][] => {
    if (content === "tool_calls") return [[content, z.exactOptional(toolCalls)]];
    return words === undefined ? [] : [[content, z.exactOptional(oneOf(words, { unset: "keep" }))]];
  }),
) as PolicySettings;

const profile = z.strictObject({
  keep_last: z.exactOptional(count("turns")),
  ...POLICY_SETTINGS,
  turns: z.exactOptional(oneOf(["omit"], { unset: "keep" })),
  summary: z.exactOptional(
    z.strictObject({
      policy: oneOf(["summarize"], GATED),
      model: z.exactOptional(name('a model such as "anthropic/claude-haiku"', GATED)),
      instructions: z.exactOptional(name("the instructions of the summary prompt, a text", GATED)),
    }),
  ),
});

const STRATEGIES = [...PIPELINE_NAMES, ...STRATEGY_NAMES] as const;

const compaction = z.strictObject({
  default_profile: name("the name of a profile"),
  keep_last: count("turns"),
  protected_messages: z.exactOptional(count("messages")),
  strategy: setting(z.enum(STRATEGIES), `one of ${STRATEGIES.join(", ")}`, { words: STRATEGIES, ...GATED }),
  model: text('a model such as "anthropic/claude-haiku", or "" to let jpg choose', GATED),
  summarize_threshold: share(GATED),
  inject: z.exactOptional(oneOf(["pair", "request", "system"])),
  index: flag(),
  fork: flag(),
  profiles: z.record(z.string(), profile),
  auto: z.strictObject({
    enabled: flag(GATED),
    trigger_ratio: share(GATED),
    warning_ratio: share(GATED),
    profile: z.exactOptional(name("the name of a profile", GATED)),
    min_turns: count("turns", GATED),
  }),
});

const tool = z.strictObject({
  compaction: z.exactOptional(
    z.strictObject({
      request: z.exactOptional(oneOf(["keep", "strip"], { unset: "inherit" })),
      response: z.exactOptional(oneOf(["keep", "strip", "remove"], { unset: "inherit" })),
      dedup: z.exactOptional(flag()),
      subsumes: z.exactOptional(
        setting(z.string().check(z.minLength(1)), "a program with its arguments, a text", { gated: true }),
      ),
    }),
  ),
});

const httpUrl = z.string().check(z.regex(/^https?:\/\/[^\s/]/));

const provider = z.strictObject({
  base_url: z.exactOptional(
    setting(httpUrl, "an address that begins with http:// or https://", { gated: true, hidden: "credentials" }),
  ),
  api_key: z.exactOptional(setting(z.string().check(z.minLength(1)), "a key, a text", { gated: true, hidden: "all" })),
  key_command: z.exactOptional(
    setting(z.string().check(z.minLength(1)), "a program that prints the key, a text", { gated: true, hidden: "all" }),
  ),
  api: z.exactOptional(oneOf(PROVIDER_APIS, { gated: true })),
  context_tokens: z.exactOptional(
    setting(z.int().check(z.minimum(1)), "a whole number of tokens, 1 or more", { gated: true }),
  ),
});

const mcpServer = z.strictObject({
  command: z.exactOptional(setting(z.string().check(z.minLength(1)), "a program, a text", { gated: true })),
  args: z.exactOptional(setting(z.array(z.string()), "a list of texts", { gated: true, hidden: "all" })),
  env: z.exactOptional(setting(z.record(z.string(), z.string()), "a table of texts", { gated: true, hidden: "all" })),
  timeout_ms: z.exactOptional(
    setting(z.int().check(z.minimum(1)), "a whole number of milliseconds, 1 or more", { gated: true }),
  ),
  confirm: z.exactOptional(setting(z.boolean(), "true or false", { gated: true })),
});

/** All settings. Layers are read setting by setting; the merged config satisfies this schema. */
const configSchema: z.ZodMiniType<Config> = z.strictObject({
  conversation: z.strictObject({
    model: text('a model such as "anthropic/claude-sonnet", or "" for the one that answered last'),
    system_prompt: setting(z.string(), "a text", { gated: true }),
    compaction,
    tools: z.record(z.string(), tool),
  }),
  providers: z.record(z.string(), provider),
  mcp: z.strictObject({ servers: z.record(z.string(), mcpServer) }),
  secrets: z.strictObject({
    allow: setting(z.array(z.string().check(z.regex(/^[0-9a-f]{16}$/))), "a list of fingerprints, 16 hex digits each", {
      usersOnly: true,
    }),
  }),
});

// Removed settings: an error says what replaces them.

/** What replaces a removed key or value; null for any other. */
export function replacementFor(path: SettingPath, value?: unknown): string | null {
  const [table, , name] = path;
  if (table === "providers" && (name === "folder" || name === "library")) return SERVE_A_FILE;
  const isFormer = name === "strategy" && typeof value === "string" && Object.hasOwn(FORMER_STRATEGIES, value);
  return isFormer ? (FORMER_STRATEGIES[value] ?? null) : null;
}

// The schema as a tree: tables with fixed keys, tables with user-chosen names, settings. Aliases of a key lead to the same node, so
// all other code sees one key per setting.

/** A place in the schema. */
export type SettingNode =
  | { readonly type: "table"; readonly fields: Readonly<Record<string, $ZodType>> }
  | { readonly type: "named"; readonly entry: $ZodType }
  | { readonly type: "setting"; readonly schema: $ZodType; readonly facts: SettingFacts };

/** A node and its canonical path. */
interface FoundNode {
  readonly path: SettingPath;
  readonly node: SettingNode;
}

interface Alias {
  readonly from: SettingPath;
  readonly to: SettingPath;
}

const COMPACTION: SettingPath = ["conversation", "compaction"];

const ALIASES: readonly Alias[] = [
  { from: ["compaction", "model"], to: [...COMPACTION, "model"] },
  { from: ["compaction", "auto"], to: [...COMPACTION, "auto", "enabled"] },
  { from: ["compaction", "protected_messages"], to: [...COMPACTION, "protected_messages"] },
  { from: [...COMPACTION, "summarize_model"], to: [...COMPACTION, "model"] },
];

/** Finds the node of a path; null when there is none. The empty path is the root table. */
export function findNode(path: SettingPath): FoundNode | null {
  const alias = ALIASES.find(({ from }) => isSamePath(from, path));
  if (alias !== undefined) return findNode(alias.to);
  let schema: $ZodType | undefined = configSchema;
  for (const name of path) {
    schema = childSchema(schema, name);
    if (schema === undefined) {
      const holdsAlias = ALIASES.some(({ from }) => isPrefix(path, from));
      return holdsAlias ? { path, node: { type: "table", fields: {} } } : null;
    }
  }
  return { path, node: toNode(schema) };
}

/** Lists the names that a table of fixed keys accepts, aliases included; empty for other nodes. */
export function namesUnder(path: SettingPath): readonly string[] {
  const node = findNode(path)?.node;
  const fields = node?.type === "table" ? Object.keys(node.fields) : [];
  const aliases = ALIASES.filter(({ from }) => isPrefix(path, from)).map(({ from }) => from[path.length] ?? "");
  return [...new Set([...fields, ...aliases])];
}

function childSchema(schema: $ZodType, name: string): $ZodType | undefined {
  const node = toNode(schema);
  switch (node.type) {
    case "table":
      return Object.hasOwn(node.fields, name) ? node.fields[name] : undefined;
    case "named":
      return isSafeName(name) ? node.entry : undefined;
    case "setting":
      return undefined;
  }
}

function toNode(schema: $ZodType): SettingNode {
  if (schema instanceof $ZodOptional) return toNode(schema._zod.def.innerType);
  const facts = settingFacts.get(schema);
  if (facts !== undefined) return { type: "setting", schema, facts };
  if (schema instanceof $ZodObject) return { type: "table", fields: schema._zod.def.shape };
  if (schema instanceof $ZodRecord) return { type: "named", entry: schema._zod.def.valueType };
  throw new TypeError(`no facts are registered for a setting of type ${schema._zod.def.type}`);
}

function isSamePath(a: SettingPath, b: SettingPath): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

function isPrefix(prefix: SettingPath, path: SettingPath): boolean {
  return prefix.length < path.length && prefix.every((name, index) => name === path[index]);
}

// A typed key may omit `conversation.compaction.` or `conversation.`. Tried in this order, so that a full key always means itself.

const OPTIONAL_PREFIXES: readonly SettingPath[] = [[], ["conversation", "compaction"], ["conversation"]];

/** Resolves a typed key. Throws `unknown_key` with the nearest key. */
export function resolveShortKey(path: SettingPath): FoundNode {
  for (const prefix of OPTIONAL_PREFIXES) {
    const found = findNode([...prefix, ...path]);
    if (found !== null) return found;
  }
  const nearest = nearestKey(path);
  const key = formatKey(path);
  throw new JpgError(
    "config",
    "unknown_key",
    `No setting is called ${key}: expected a key such as keep_last or auto.enabled.`,
    {
      hints: [nearest === null ? "`jpg config` lists the settings in force." : `Did you mean ${nearest}?`],
      data: { key, ...(nearest === null ? {} : { nearest }) },
    },
  );
}

function nearestKey(path: SettingPath): string | null {
  for (const prefix of OPTIONAL_PREFIXES) {
    const full = [...prefix, ...path];
    const at = full.findIndex((_, index) => findNode(full.slice(0, index + 1)) === null);
    const near = nearestName(full[at] ?? "", namesUnder(full.slice(0, at)));
    if (near !== undefined) return formatKey([...full.slice(0, at), near, ...full.slice(at + 1)]);
  }
  return null;
}
