// Stale content: what a view shows of a file as it was before a later change to it. A model that reads it believes it.

import { callFacts, fileKey, isWriting, listToolCalls, type ToolCall } from "../../src/core/compact/tool-call.ts";
import type { Event, ToolCallRequest, Turn } from "../../src/core/conversation/event.ts";
import type { CountTokens } from "./baselines.ts";

/** Stubs begin with it: they show nothing of a file. */
const STUB = "[";

/**
 * Gives the tokens of a view that are content of files which a call that did not fail wrote or edited later in the past: results
 * of reads, and what was written whole.
 */
export function staleTokens(view: readonly Event[], turns: readonly Turn[], count: CountTokens): number {
  const stale = listStale(turns);
  return view.reduce((sum, event) => sum + (stale.has(event.id) && !isStub(event) ? count(event) : 0), 0);
}

/** Ids of the events whose content of a file was changed later. */
function listStale(turns: readonly Turn[]): ReadonlySet<string> {
  const stale = new Set<string>();
  const changed = new Set<string>();
  for (const call of listToolCalls(turns).toReversed()) {
    const files = filesOf(call.request);
    const { kind, isWhole } = callFacts(call.request);
    const isChanged = files.some((file) => changed.has(file));
    if (isChanged && kind === "read" && call.response !== null) stale.add(call.response.id);
    if (isChanged && kind === "write" && isWhole) stale.add(call.request.id);
    if (isWriting(kind) && !hasFailed(call)) for (const file of files) changed.add(file);
  }
  return stale;
}

function filesOf(request: ToolCallRequest): readonly string[] {
  const { path, paths = path === undefined ? [] : [path], folder } = callFacts(request);
  return paths.flatMap((name) => fileKey(folder === undefined ? { path: name } : { path: name, folder }) ?? []);
}

function hasFailed({ response }: ToolCall): boolean {
  return response?.is_error === true;
}

function isStub(event: Event): boolean {
  if (event.type === "tool_call_request") return Object.keys(event.arguments ?? {}).length === 0;
  return (
    event.type === "tool_call_response" &&
    typeof event.content === "string" &&
    event.content.length < 120 &&
    event.content.startsWith(STUB)
  );
}
