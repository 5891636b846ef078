// Loads the config: every layer read, checked and laid over the ones below, the built-in settings lowest, each setting
// remembering where it came from.
// The user's own mistakes are errors; what a stranger's layer may not say is ignored and listed.

import { asSentence, JpgError } from "../core/errors.ts";
import { defined } from "../core/json.ts";
import { assembleConfig } from "./assemble-config.ts";
import type { Config } from "./config.ts";
import { type Assignment, type Layer, type LayerName, type Problem, renderPlace, type SettingOrigin } from "./layer.ts";
import { isUsersWord, refusalOfOthers, refusalOfSetting } from "./layer-trust.ts";
import { parseOverride, toTable } from "./overrides.ts";
import { readLayer } from "./read-layer.ts";
import { formatKey } from "./setting-key.ts";
import { parseToml } from "./toml-source.ts";

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
