// Exports a conversation: its view or full history in a format, or the imported bytes.
import { resolve } from "node:path";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { offeredTools, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { Event, View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { type JpgError, nearestName, userError } from "../../core/errors.ts";
import { folderKey, isWindowsPath, parseWindows, withoutEnd } from "../../core/folder-path.ts";
import { escapeForPattern } from "../../core/look/search-words.ts";
import { joinContinued } from "../../core/model/continued-texts.ts";
import { inferProvider, parseModelName } from "../../core/model/model-name.ts";
import { knownProvider } from "../../core/model/model-provider.ts";
import { isProviderName, PROVIDER_NAMES, type ProviderName } from "../../core/model/provider-rules.ts";
import { forJson } from "../../core/safe-text.ts";
import { maskLine } from "../../core/secrets/mask.ts";
import type { SessionDraft } from "../../formats/agent-format.ts";
import { exportAnthropic } from "../../formats/anthropic/write.ts";
import { translateCalls } from "../../formats/common-tools.ts";
import { pluginWriter } from "../../formats/format-plugin.ts";
import { exportGoogle } from "../../formats/google/write.ts";
import type { ExportOrigin } from "../../formats/imported-session.ts";
import { renderViewLines } from "../../formats/jsonl/write.ts";
import { renderMarkdown } from "../../formats/markdown/write.ts";
import { exportOpenAiChat } from "../../formats/openai-chat/write.ts";
import { exportOpenAiResponses } from "../../formats/openai-responses/write.ts";
import { type LlmRequest, toAnthropicBody, toGoogleBody } from "../../llm/client.ts";
import { toChatBody } from "../../llm/openai-chat-request.ts";
import { toResponsesBody } from "../../llm/openai-responses-request.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { sha1Bytes, sha256 } from "../conversation/runtime.ts";
import { conversationTitle } from "../conversation/title.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { inlineView } from "../conversation/turns.ts";
import { loadCompactions, loadHistory, loadView, readToolDefinitions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { lastModel } from "../models/choose-model.ts";
import { configuredProviders } from "../models/model-connection.ts";
import { exportSessionId } from "../names/find-session.ts";
import { type FormatPlugin, writeByPlugin } from "../sessions/format-plugins.ts";
import { agents, type WritingAgent, writingAgents } from "../sessions/session-registry.ts";

/** Messages of a request as one JSON document, by API. */
const MESSAGES: Readonly<Record<ProviderName, (view: View, options: { readonly model?: string }) => object>> = {
  anthropic: exportAnthropic,
  "openai-chat": exportOpenAiChat,
  "openai-responses": exportOpenAiResponses,
  google: exportGoogle,
};

/** Formats of `export --to`. */
export const EXPORT_FORMATS: readonly string[] = [
  ...writingAgents().map(({ name }) => name),
  ...PROVIDER_NAMES,
  "jsonl",
  "markdown",
];

interface ExportRequest {
  readonly to: string;
  /** Export all turns as they were said instead of the view. */
  readonly fullHistory: boolean;
  /** The model that will read it: reasoning of another family is left out, and request bodies name it. */
  readonly model?: string;
  /** Export only the messages of a request, with the system prompt where the API has it outside of them (default false). */
  readonly messages?: boolean;
  /** Folders of another machine, and those that replace them here; absent = none. */
  readonly roots?: readonly RootMapping[];
}

interface DraftOptions extends Partial<Pick<ExportRequest, "fullHistory" | "model" | "roots">> {
  readonly agent: WritingAgent;
  readonly sessionId: string;
  /** Whether the agent has jpg's tools, so that the view says how to find what it hides (default false). */
  readonly notice?: boolean;
}

/** Creates the error for a format that is none of those written; `more` = what else would write it. */
export function unknownExportFormat(to: string, formats: readonly string[], more: readonly string[] = []): JpgError {
  const nearest = nearestName(to, formats);
  return userError("unknown_format", `${to} is not a format that jpg writes: expected one of ${formats.join(", ")}.`, {
    hints: [...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]), ...more],
  });
}

/** Renders a conversation in a format. Throws `unknown_format`; for request bodies `no_model`. */
export async function exportConversation(
  workspace: Workspace,
  tree: BranchTree,
  request: ExportRequest,
): Promise<string> {
  if (!EXPORT_FORMATS.includes(request.to)) throw unknownExportFormat(request.to, EXPORT_FORMATS);
  const agent = writingAgents().find(({ name }) => name === request.to);
  if (agent !== undefined)
    return agent.write.write(
      await draftSession(workspace, tree, { agent, sessionId: exportSessionId(agent, tree, 0), ...request }),
    );
  const { view, compactions } = await readView(workspace, tree, request);
  if (request.to === "jsonl") return renderViewLines(view);
  if (request.to === "markdown") return renderMarkdown(view, { title: await conversationTitle(workspace, tree) });
  const whole = await inlineView(workspace.store, tree.commit, view);
  return `${forJson(JSON.stringify(await renderRequest(workspace, tree, { view: whole, compactions }, request), null, 1))}\n`;
}

/** Has a plug-in write a conversation as a session. Throws `untrusted_format`, `plugin_failed`. */
export async function exportByPlugin(
  workspace: Workspace,
  tree: BranchTree,
  request: Omit<ExportRequest, "to" | "messages"> & { readonly plugin: FormatPlugin },
): Promise<Uint8Array> {
  const agent = pluginWriter(request.plugin.name);
  const draft = await draftSession(workspace, tree, { agent, sessionId: exportSessionId(agent, tree, 0), ...request });
  return writeByPlugin(workspace.runtime, request.plugin, agent.write.write(draft));
}

async function renderRequest(
  workspace: Workspace,
  tree: BranchTree,
  { view, compactions }: ReadView,
  request: ExportRequest,
): Promise<object> {
  const api = isProviderName(request.to) ? request.to : "anthropic";
  if (request.messages === true) return MESSAGES[api](view, modelOption(request.model));
  const model = await modelOfBody(workspace, tree, { api, named: request.model });
  const tools = offeredTools(await recordedDefinitions(workspace, tree), view, compactions);
  return REQUEST_BODIES[api]({ view, model, ...(tools.length === 0 ? {} : { tools }) });
}

/** Collects what an agent's session of the given id is written from. */
export async function draftSession(
  workspace: Workspace,
  tree: BranchTree,
  options: DraftOptions,
): Promise<SessionDraft> {
  const { agent, roots = [] } = options;
  const { view, compactions } = await readView(workspace, tree, options);
  const written = async (own: View): Promise<View> =>
    withToolsOf(agent, tree, await inlineView(workspace.store, tree.commit, own));
  const takesHistory = agent.write.takesHistory === true && compactions.length > 0;
  const history = takesHistory ? mapRoots(await loadHistory(workspace.store, tree), roots) : null;
  return {
    view: joinContinued(await written(view)),
    ...(history !== null && { history: { view: await written(history), compactions } }),
    sessionId: options.sessionId,
    origin: originOf(tree),
    cwd: workspace.location.project?.root ?? workspace.runtime.cwd,
    title: await conversationTitle(workspace, tree),
    ...modelOption(options.model),
    sha1: sha1Bytes,
    sha256,
  };
}

/** An agent's own session is exported with its tools as imported. */
function withToolsOf({ name, tools }: WritingAgent, { header }: BranchTree, view: View): View {
  if (header.source?.format === name) return view;
  return translateCalls(
    view,
    tools,
    agents().flatMap(({ tools: known }) => known ?? []),
  );
}

function originOf({ branch, commit, atTurn }: BranchTree): ExportOrigin {
  const origin = { conversation: conversationOf(branch), branch, commit };
  return atTurn === undefined ? origin : { ...origin, turn: atTurn };
}

/** What is exported, and the compactions in force in it. */
interface ReadView {
  readonly view: View;
  readonly compactions: readonly Compaction[];
}

async function readView(
  { store }: Workspace,
  tree: BranchTree,
  { fullHistory = false, roots = [], notice = false }: Pick<DraftOptions, "fullHistory" | "roots" | "notice">,
): Promise<ReadView> {
  if (fullHistory) return { view: mapRoots(await loadHistory(store, tree), roots), compactions: [] };
  const { view, live } = await loadView(store, tree, { notice });
  return { view: mapRoots(view, roots), compactions: live.applied };
}

function modelOption(model: string | undefined): { readonly model?: string } {
  return model === undefined ? {} : { model };
}

// Maps paths of another machine to this one, in the export only, never in what is stored. A folder of a Windows machine is
// recognised in all notations, and what is below it is written with this machine's separators.

/** A folder of the other machine, and its replacement here; neither ends in a slash. */
export interface RootMapping {
  readonly from: string;
  readonly to: string;
}

/** Parses `OLD=NEW` words; OLD is absolute, NEW may be relative to `cwd`. Throws `usage`, also if two words map the same OLD. */
export function parseRoots(words: readonly string[], cwd: string): readonly RootMapping[] {
  const roots = words.map((word) => parseRoot(word, cwd));
  for (const [at, { from, to }] of roots.entries()) {
    const other = roots.slice(0, at).find((root) => folderKey(root.from) === folderKey(from) && root.to !== to);
    if (other !== undefined)
      throw userError("usage", `--root: ${from} cannot become both ${other.to} and ${to}.`, {
        hints: ["Give --root once for each OLD."],
      });
  }
  return roots;
}

function parseRoot(word: string, cwd: string): RootMapping {
  const [, old = "", to = ""] = /^([^=]+)=(.+)$/.exec(word) ?? [];
  const from = withoutEnd(old);
  const folder = parseWindows(from);
  const isFolder = folder === null ? /^\/[^/]/.test(from) : folder.names.length > 0;
  // A Windows path is not relative to this machine's folders.
  if (isFolder && to !== "") return { from, to: withoutEnd(isWindowsPath(to) ? to : resolve(cwd, to)) };
  throw userError(
    "usage",
    `--root ${word}: expected OLD=NEW, where OLD is the absolute path of a folder other than /.`,
    {
      hints: [
        "--root /home/ada/tidepool=. replaces Ada's folder by this one; if she has Windows: --root 'C:\\Users\\ada\\tidepool=.'",
      ],
    },
  );
}

/** Characters that continue the name of a folder. */
const NAME = "\\p{L}\\p{M}\\p{N}_\\-";
const NAME_ON = `${NAME}+@~%$`;
/** Between two names; in code or JSON, a backslash is written twice or four times. */
const SEPARATOR = "(?:\\\\{1,4}|/{1,2})";
/** What may follow a folder in a path: up to a space, a quote, or what ends a path in a list, a position or a setting. */
const BELOW = "(?:[/\\\\][^\\s\"'`<>|,;:=]*)?";
/** A text that is a path as a whole may have spaces, unless it looks like a sentence or a command. */
const WHOLE_PATH = /^(?!.*[.!] |.* [-/\\])[^\n<>"|?*:=,;]*$/;

/** Replaces roots in a view wherever a path begins with one; matches whole names of folders only. */
export function mapRoots(view: View, roots: readonly RootMapping[]): View {
  if (roots.length === 0) return view;
  const mapText = textMapper(roots);
  const mapper = { mask: mapText, spans: () => [] };
  const map = (event: Event): Event => {
    const line = JSON.stringify(event);
    const mapped = maskLine(line, mapper);
    return mapped === line ? event : (JSON.parse(mapped) as Event);
  };
  return { turns: view.turns.map((turn) => ({ ...turn, events: turn.events.map(map) })) };
}

function textMapper(roots: readonly RootMapping[]): (text: string) => string {
  // The longest first: one root may contain another.
  const ordered = [...roots].sort((a, b) => folderKey(b.from).length - folderKey(a.from).length);
  const folders = ordered.map(({ from }) => `(${folderPattern(from)})`).join("|");
  const path = new RegExp(`(?<![${NAME}./\\\\])(?:${folders})(?![${NAME_ON}]|\\.[${NAME}])(${BELOW})`, "gu");
  return (text) => {
    const isJson = /^\s*[{[]/.test(text) && isParsed(text);
    let end = 0;
    let mapped = "";
    for (let match = path.exec(text); match !== null; match = path.exec(text)) {
      const [whole, ...groups] = match;
      const below = groups.at(-1) ?? "";
      const rest = match.index === 0 && WHOLE_PATH.test(text.slice(whole.length)) ? text.slice(whole.length) : "";
      const at = groups.findIndex((group) => group !== undefined);
      const { from = "", to = "" } = ordered[at] ?? {};
      const isEscaped = isJson || /[^\\]\\\\/.test(groups[at] ?? "");
      mapped += text.slice(end, match.index) + writePath({ from, to, below: below + rest, isEscaped });
      end = match.index + whole.length + rest.length;
      path.lastIndex = end;
    }
    return mapped + text.slice(end);
  };
}

/** A regular expression for all notations of a folder. */
function folderPattern(path: string): string {
  const folder = parseWindows(path);
  if (folder === null)
    return [...new Set([path, path.normalize("NFC"), path.normalize("NFD")])].map(escapeForPattern).join("|");
  const { drive, isShare, names } = folder;
  const [name, ...below] = [drive, ...names].map(anyCase);
  const rest = below.map((one) => SEPARATOR + one).join("");
  if (isShare) return `(?:\\\\{2,8}\\?\\\\{1,4}UNC\\\\{1,4}|\\\\{2,8}|(?<!:)//)${name}${rest}`;
  return `(?:(?:(?:\\\\{2,8}|//)[?.]${SEPARATOR})?${name}:|/(?:mnt/|cygdrive/)?${name})${rest}`;
}

function anyCase(name: string): string {
  return Array.from(name, (letter) => {
    const [small, large] = [letter.toLowerCase(), letter.toUpperCase()];
    return small === large || small.length + large.length !== 2 * letter.length
      ? escapeForPattern(letter)
      : `[${small}${large}]`;
  }).join("");
}

/** Writes a path below a folder with the separators of the other machine. */
function writePath(path: RootMapping & { readonly below: string; readonly isEscaped: boolean }): string {
  const { from, to, below, isEscaped } = path;
  const root = to === "" ? "/" : `${to}\\`;
  const slash = to.includes("\\") || /^[A-Za-z]:$/.test(to) ? "\\" : "/";
  // Between machines with the same separators, what is below does not change: a backslash may be part of a name.
  const isAlike = slash === "/" && parseWindows(from) === null;
  const rest = isAlike ? below : below.replace(/\\{1,4}|\//g, slash);
  const written = rest !== "" || (to !== "" && !/^[A-Za-z]:$/.test(to)) ? to + rest : root;
  return isEscaped && slash === "\\" ? written.replaceAll("\\", "\\\\") : written;
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export const REQUEST_BODIES: Readonly<Record<ProviderName, (request: LlmRequest) => object>> = {
  anthropic: (request) => toAnthropicBody(request, false),
  "openai-chat": (request) => toChatBody({ provider: "openai" }, request, false),
  "openai-responses": (request) => toResponsesBody(request, false),
  google: toGoogleBody,
};

/**
 * The model of a request body, by the provider's own name: the named one, else the one of that API that answered last in the
 * conversation. Throws `no_model`.
 */
async function modelOfBody(
  workspace: Workspace,
  tree: BranchTree,
  { api, named }: { readonly api: ProviderName; readonly named: string | undefined },
): Promise<string> {
  const { config } = await loadConversationConfig(workspace, tree);
  if (named !== undefined && named !== "") return ownName(named, configuredProviders(config));
  const isOfApi = (name: string): boolean => {
    const provider = name.slice(0, name.indexOf("/"));
    if (provider === "openai") return api.startsWith("openai-");
    return (config.providers[provider]?.api ?? knownProvider(provider)?.api) === api;
  };
  const last = await lastModel(workspace.store, tree, isOfApi);
  if (last !== null) return last.slice(last.indexOf("/") + 1);
  throw userError(
    "no_model",
    `No model of ${api} has answered in ${tree.branch}, so jpg cannot tell which model will read the request.`,
    {
      hints: [`Add \`--model ${EXAMPLES[api]}\`, or \`--messages\` to export only the messages.`],
    },
  );
}

/** The tools offered by the conversation's last request; none where they are not recorded. */
async function recordedDefinitions(workspace: Workspace, tree: BranchTree): Promise<readonly ToolDefinition[]> {
  const { tools } = await loadConversationConfig(workspace, tree);
  return tools === null ? [] : readToolDefinitions(workspace.store, tree, tools);
}

const EXAMPLES: Readonly<Record<ProviderName, string>> = {
  anthropic: "claude-sonnet",
  "openai-chat": "ollama/qwen3",
  "openai-responses": "gpt-mini",
  google: "gemini-flash",
};

/** A local server accepts any model name, so one without a known provider is used as it is. */
function ownName(name: string, configured: readonly string[]): string {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(slash, 0));
  const isKnown =
    slash === -1
      ? inferProvider(name) !== null
      : configured.includes(provider) || knownProvider(provider.toLowerCase()) !== undefined;
  return isKnown ? parseModelName(name, configured).model : name;
}

/** Formats that can hold a System message anywhere, or any role. */
const WITH_SYSTEM: readonly string[] = ["openai-chat", "openai-responses", "jsonl", "markdown"];

/** A note on exporting a branch's view to a format; null where there is none. */
export async function systemSummaryNote(
  { store }: Pick<Workspace, "store">,
  tree: BranchTree,
  to: string,
): Promise<string | null> {
  if (WITH_SYSTEM.includes(to)) return null;
  const { applied } = await loadCompactions(store, tree);
  if (!applied.some(({ summary }) => summary?.inject === "system")) return null;
  return `${to} has no System messages inside a conversation: the summary is written as a reminder in a user message instead.`;
}
