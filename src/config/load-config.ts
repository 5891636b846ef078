// Loads the config: every layer read, checked and laid over the ones below, the built-in settings lowest, each setting
// remembering where it came from.
// The user's own mistakes are errors; what a stranger's layer may not say is ignored and listed.
import { JpgError } from "../core/errors.ts";
import { assembleConfig } from "./assemble-config.ts";
import type { Config } from "./config.ts";
import { type Assignment, type Layer, type LayerName, type Origin, type Problem, renderPlace } from "./layer.ts";
import { refusal } from "./layer-trust.ts";
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
}

export interface LoadedConfig {
  readonly config: Config;
  /** As written, by dotted key; only what is in force. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Where each value comes from, by dotted key; same keys as `values`. */
  readonly origins: ReadonlyMap<string, Origin>;
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
  const inForce = new Map<string, Assignment>();
  const ignored: IgnoredSetting[] = [];
  for (const { file, problem } of input.conversation) {
    if (problem !== undefined) ignored.push({ key: "", layer: "conversation", file, reason: problem });
  }
  for (const source of listSources(input)) {
    const { assignments, problems } = readLayer(source.layer);
    for (const problem of problems) handleProblem(problem, source, ignored);
    for (const assignment of assignments) {
      const reason = refusal(source.layer.name, source.isTrusted, assignment);
      const key = formatKey(assignment.path);
      if (reason !== null) ignored.push({ key, reason, ...assignment.origin });
      else inForce.set(key, assignment);
    }
  }
  return Object.assign(assembleConfig(inForce), { ignored });
}

/** Renders what was ignored as warnings, one line each, with what to do about it. */
export function renderIgnored(ignored: readonly IgnoredSetting[]): readonly string[] {
  return ignored.map(({ key, reason, ...origin }) => {
    const remedy = origin.layer === "project" ? "; read the file, then run `jpg trust`" : "";
    return `${renderPlace(origin)}: ignored ${key === "" ? "the file" : key}: ${reason}${remedy}`;
  });
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
  throw new JpgError("config", code, `${where}: ${what}: ${reason}`, {
    hints: [nearest === undefined ? `correct ${where}` : `did you mean ${nearest}?`],
    data: { key, ...origin, ...(nearest === undefined ? {} : { nearest }) },
  });
}
