// Gives a conversation back: its view or full history in a format, or the imported bytes.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { offeredTools } from "../../core/conversation/defined-tools.ts";
import type { View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { nearestName, userError } from "../../core/errors.ts";
import { isProviderName, PROVIDER_NAMES, type ProviderName } from "../../core/model/provider-rules.ts";
import { forJson } from "../../core/safe-text.ts";
import type { SessionDraft } from "../../formats/agent-format.ts";
import { exportAnthropic } from "../../formats/anthropic/write.ts";
import { translateCalls } from "../../formats/common-tools.ts";
import { exportGoogle } from "../../formats/google/write.ts";
import type { ExportOrigin } from "../../formats/imported-session.ts";
import { renderViewLines } from "../../formats/jsonl/write.ts";
import { renderMarkdown } from "../../formats/markdown/write.ts";
import { exportOpenAiChat } from "../../formats/openai-chat/write.ts";
import { exportOpenAiResponses } from "../../formats/openai-responses/write.ts";
import { inlineView } from "../branch/attachments.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadHistory, loadView } from "../branch/load-view.ts";
import { conversationTitle } from "../branch/titles.ts";
import { exportSessionId } from "../names/find-session.ts";
import { agents, type WritingAgent, writingAgents } from "../sessions/session-registry.ts";
import { listStoredSideFiles, readSource } from "../sessions/stored-session.ts";
import { sha1Bytes, sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { mapRoots, type RootMapping } from "./map-roots.ts";
import { modelOfBody, REQUEST_BODIES, recordedDefinitions } from "./request-body.ts";

/** What requests hold of a conversation, by the API's name: one JSON document each. */
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

export interface ExportRequest {
  readonly to: string;
  /** All turns as they were said, not the view. */
  readonly fullHistory: boolean;
  /** Model that will read it: reasoning of another family is left out, and bodies of requests name it. */
  readonly model?: string;
  /** Of a request only the messages, with the system prompt where it stands beside them (default false). */
  readonly messages?: boolean;
  /** Folders of another machine, and those that stand for them here; absent = none. */
  readonly roots?: readonly RootMapping[];
}

/** How a session is drafted. */
interface DraftOptions extends Partial<Pick<ExportRequest, "fullHistory" | "model" | "roots">> {
  readonly agent: WritingAgent;
  readonly sessionId: string;
  /** Whether the agent has jpg's tools, so that the view says how what it hides is found (default false). */
  readonly notice?: boolean;
}

/** Renders a conversation in a format. Throws `unknown_format`; for bodies of requests `no_model`. */
export async function exportConversation(
  workspace: Workspace,
  tree: BranchTree,
  request: ExportRequest,
): Promise<string> {
  if (!EXPORT_FORMATS.includes(request.to)) {
    const nearest = nearestName(request.to, EXPORT_FORMATS);
    throw userError(
      "unknown_format",
      `${request.to} is not a format that jpg exports to; it writes: ${EXPORT_FORMATS.join(", ")}.`,
      {
        hints: nearest === undefined ? [] : [`Did you mean ${nearest}?`],
      },
    );
  }
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

/** Gathers what an agent's session of the given id is written from. */
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
    view: await written(view),
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

/** An agent's own session goes back as it came. */
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

/**
 * The imported bytes of a branch's session, or of a file that stood beside it, piece by piece. Throws `no_source`,
 * `unknown_session`, `unknown_side_file`.
 */
export async function exportOriginal(
  workspace: Workspace,
  tree: BranchTree,
  session?: string,
  file?: string,
): Promise<AsyncIterable<Uint8Array>> {
  const sessions = await listSessions(workspace, tree);
  if (sessions.length === 0) {
    throw userError("no_source", `${tree.branch} was not imported from a file: it has no original.`, {
      hints: ["Export the full history: `jpg export --to jsonl --full-history`."],
    });
  }
  const wanted = session ?? tree.header.source?.session ?? sessions[0] ?? "";
  if (!sessions.includes(wanted)) {
    throw userError("unknown_session", `${tree.branch} holds no session ${wanted}; it holds: ${sessions.join(", ")}.`, {
      hints: ["`--session ID` names one."],
    });
  }
  return file === undefined ? readSource(workspace.store, tree, wanted) : readBeside(workspace, tree, wanted, file);
}

async function readBeside(
  { store }: Workspace,
  tree: BranchTree,
  session: string,
  file: string,
): Promise<AsyncIterable<Uint8Array>> {
  const stored = await listStoredSideFiles(store, tree.commit, session);
  const oid = stored.get(file);
  if (oid !== undefined) return store.readBlobs([oid]);
  const names = [...stored.keys()];
  throw userError(
    "unknown_side_file",
    `${tree.branch} holds no file ${file} from beside session ${session}; it holds: ${names.join(", ") || "none"}.`,
    { hints: ["Leave --file out for the session's own file."] },
  );
}

/** The ids of the sessions that a branch was imported from. */
export async function listSessions(workspace: Workspace, tree: BranchTree): Promise<string[]> {
  const files = await workspace.store.listTree(tree.commit, { under: ["sources"] });
  return [...new Set(files.map((file) => file.path.split("/")[1] ?? ""))];
}

/** What is exported, and the compactions under which it reads so. */
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
