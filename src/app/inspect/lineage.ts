// Which conversation another one comes from, and which ones its agents wrote. A conversation names its parent by the session's
// own id, as the session itself does: each finds the other whichever was imported first, and when one of them never is.
import { conversationOf } from "../../core/conversation/name.ts";
import { defined } from "../../core/json.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import {
  type BranchTree,
  type ConversationHeader,
  collectBlobs,
  parentSession,
  parseHeader,
} from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openFactsCache } from "./facts-cache.ts";

/** A conversation that an agent of another one wrote. */
export interface AgentConversation {
  readonly id: string;
  readonly title: string;
  /** The call that began it, where the files say. */
  readonly call?: string;
  /** What results of the other one call it. */
  readonly name: string;
}

/** Where no list was made of more conversations than these, agents among them are not looked for: that takes as long as the list. */
const MOST_UNKNOWN = 200;

/** Lists the conversations that agents of a conversation's sessions wrote, in the order of their names. */
export async function listAgents(workspace: Workspace, tree: BranchTree): Promise<readonly AgentConversation[]> {
  const { store } = workspace;
  const { source } = tree.header;
  if (source === null) return [];
  const known = openFactsCache(store);
  // What a list knows of a conversation says whether it comes from another: nearly none has to be read.
  const mains = mainTips(await store.listBranches(leaveOut)).map((tip) => ({ tip, facts: known.find(tip.commit) }));
  const told = mains.filter(({ facts }) => facts?.parent !== undefined);
  const unknown = mains.filter(({ facts }) => facts === null);
  const tips = [...told, ...(unknown.length > MOST_UNKNOWN ? [] : unknown)].map(({ tip }) => tip);
  const agents = (await readHeaders(store, tips)).flatMap(([tip, header]): AgentConversation[] => {
    const parent = header.source?.format === source.format ? parentSession(header) : null;
    if (parent?.kind !== "agent" || parent.session !== source.session) return [];
    const { call, name = header.source?.session ?? "" } = parent;
    return [{ id: conversationOf(tip.name), title: header.title, ...defined({ call }), name }];
  });
  return agents.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** A branch that cannot be read is named where it is looked at. */
export const leaveOut = (): void => undefined;

/** One branch of each conversation: its header is that of all. */
function mainTips(tips: readonly BranchTip[]): readonly BranchTip[] {
  const mains = new Map<string, BranchTip>();
  for (const tip of tips) {
    const id = conversationOf(tip.name);
    if (!mains.has(id)) mains.set(id, tip);
  }
  return [...mains.values()];
}

/** The headers that can be read; what is wrong with the others is said where they are looked at. */
async function readHeaders(
  store: ConversationStore,
  tips: readonly BranchTip[],
): Promise<readonly (readonly [BranchTip, ConversationHeader])[]> {
  const headers = await Promise.all(tips.map((tip) => readHeader(store, tip).catch(() => null)));
  return tips.flatMap((tip, at) => {
    const header = headers[at] ?? null;
    return header === null ? [] : [[tip, header] as const];
  });
}

async function readHeader(store: ConversationStore, { name, commit }: BranchTip): Promise<ConversationHeader | null> {
  const path = "conversation.json";
  const oid = (await store.readEntries(commit, [path])).get(path);
  // What a partial clone has not here is not brought.
  if (oid === undefined || (store.partial?.missing([oid]).length ?? 0) > 0) return null;
  const [bytes] = await collectBlobs(store, [oid]);
  return parseHeader(new TextDecoder().decode(bytes), name);
}

/** Where a conversation's turns began an agent. */
export interface AgentPlace {
  /** Turn position, 0-based. */
  readonly turn: number;
  /** The call; absent where only a result names the agent. */
  readonly call?: string;
}

/** Finds the turn that began an agent: that of its call, else the first with a result that names it. */
export function placeOfAgent(
  turns: readonly { readonly turn: number; readonly text: string }[],
  { call, name }: Pick<AgentConversation, "call" | "name">,
): AgentPlace | null {
  for (const { turn, text } of turns) {
    const lines = text.split("\n");
    if (call !== undefined && lines.some((line) => isCall(line, call))) return { turn, call };
    const result = call === undefined ? lines.find((line) => line.includes(name) && isResult(line)) : undefined;
    if (result !== undefined) return { turn, ...callOf(result) };
  }
  return null;
}

function isCall(line: string, call: string): boolean {
  return line.startsWith('{"type":"tool_call_request"') && line.includes(`"call_id":${JSON.stringify(call)}`);
}

function isResult(line: string): boolean {
  return line.startsWith('{"type":"tool_call_response"');
}

function callOf(line: string): Pick<AgentPlace, "call"> {
  const { call_id: call } = JSON.parse(line) as { readonly call_id?: unknown };
  return typeof call === "string" ? { call } : {};
}
