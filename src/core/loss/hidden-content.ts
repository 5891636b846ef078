// What a compaction takes out of the view, for reviewers: which tools, how much, which files and commands. The same events
// always give the same, in the same order.
import { type Event, type ToolCallRequest, traitsOf } from "../event/event.ts";
import { textBytes } from "../event/text-bytes.ts";
import { pairCalls } from "../event/tool-pairing.ts";
import { splitTurns } from "../event/turn.ts";
import { estimateEvent } from "../tokens/token-estimate.ts";
import { commandsRun, filesNamed, firstLine } from "./call-traces.ts";

/** Calls of one tool that are hidden or shortened. Bytes are UTF-8 bytes of text, tokens are estimates. */
export interface HiddenTool {
  readonly name: string;
  readonly calls: number;
  /** How many of the calls failed. */
  readonly errors: number;
  readonly bytes: number;
  readonly tokens: number;
}

/** What a compaction hides, counted. */
export interface HiddenContent {
  /** Estimates over everything it covers. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** UTF-8 bytes of the texts it covers. */
  readonly bytes: { readonly before: number; readonly after: number };
  /** Events a model is sent that are gone, or stand there changed. */
  readonly events_removed: number;
  readonly events_changed: number;
  /** Most tokens first, then by name. */
  readonly tools: readonly HiddenTool[];
  /** Files that hidden calls touched, by name. */
  readonly files: readonly string[];
  /** First lines of the commands that hidden calls ran, in order, each once. */
  readonly commands: readonly string[];
  /** First lines of the user's requests that are gone, in order. */
  readonly requests: readonly string[];
}

/**
 * Compares the raw events a compaction covers with those the view shows of them. Events are matched by id; a shown event
 * that is the same object is unchanged (projection passes unchanged events on as they are). Shown events that are not
 * raw (a summary's) count towards what is there afterwards. `countEvent` gives the tokens of one, as the whole view is counted.
 */
export function hiddenContent(
  raw: readonly Event[],
  shown: Iterable<Event>,
  countEvent: (event: Event) => number = estimateEvent,
): HiddenContent {
  const after = new Map<string, Event>();
  const total = { tokens: { before: 0, after: 0 }, bytes: { before: 0, after: 0 } };
  const sizeOf = createSizes(countEvent);
  for (const event of shown) {
    after.set(event.id, event);
    const { tokens, bytes } = sizeOf(event);
    total.tokens.after += tokens;
    total.bytes.after += bytes;
  }
  const touched: Event[] = [];
  let removed = 0;
  for (const event of raw) {
    const { tokens, bytes } = sizeOf(event);
    total.tokens.before += tokens;
    total.bytes.before += bytes;
    const now = after.get(event.id);
    if (now === event || !traitsOf(event).providerVisible) continue;
    if (now === undefined) removed += 1;
    touched.push(event);
  }
  const calls = touchedCalls(raw, touched);
  return {
    tokens: { before: Math.round(total.tokens.before), after: Math.round(total.tokens.after) },
    bytes: total.bytes,
    events_removed: removed,
    events_changed: touched.length - removed,
    tools: listTools(calls, (event) => lessening(sizeOf(event), sizeOf(after.get(event.id)))),
    files: [...new Set(calls.flatMap(({ request }) => filesNamed(request.arguments)))].sort(),
    commands: [...new Set(calls.flatMap(({ request }) => commandsRun(request.arguments)))],
    requests: touched.filter((event) => !after.has(event.id)).flatMap(requestLine),
  };
}

/** A call of which a half was touched. */
interface TouchedCall {
  readonly request: ToolCallRequest;
  readonly halves: readonly Event[];
  readonly failed: boolean;
}

function touchedCalls(raw: readonly Event[], touched: readonly Event[]): readonly TouchedCall[] {
  const pairs = pairCalls(
    splitTurns(raw, (event) => traitsOf(event).providerVisible),
    () => false,
  );
  const calls = new Map<ToolCallRequest, { halves: Event[]; failed: boolean }>();
  for (const event of touched) {
    const request = event.type === "tool_call_response" ? pairs.get(event) : event;
    if (request?.type !== "tool_call_request") continue;
    const call = calls.get(request) ?? { halves: [], failed: false };
    call.halves.push(event);
    call.failed ||= event.type === "tool_call_response" && event.is_error;
    calls.set(request, call);
  }
  return [...calls].map(([request, call]) => ({ request, ...call }));
}

interface Size {
  readonly bytes: number;
  readonly tokens: number;
}

const NOTHING: Size = { bytes: 0, tokens: 0 };

/** Gives a function that sizes each event once: what stays is among the raw events and among the shown ones. */
function createSizes(countEvent: (event: Event) => number): (event: Event | undefined) => Size {
  const sizes = new Map<Event, Size>();
  return (event) => {
    if (event === undefined) return NOTHING;
    const known = sizes.get(event);
    if (known !== undefined) return known;
    const size = { bytes: textBytes(event), tokens: countEvent(event) };
    sizes.set(event, size);
    return size;
  };
}

function lessening(before: Size, after: Size): Size {
  return { bytes: Math.max(0, before.bytes - after.bytes), tokens: Math.max(0, before.tokens - after.tokens) };
}

function listTools(calls: readonly TouchedCall[], lost: (event: Event) => Size): readonly HiddenTool[] {
  const tools = new Map<string, { calls: number; errors: number; bytes: number; tokens: number }>();
  for (const { request, halves, failed } of calls) {
    const tool = tools.get(request.name) ?? { calls: 0, errors: 0, bytes: 0, tokens: 0 };
    tool.calls += 1;
    if (failed) tool.errors += 1;
    for (const { bytes, tokens } of halves.map(lost)) {
      tool.bytes += bytes;
      tool.tokens += tokens;
    }
    tools.set(request.name, tool);
  }
  return [...tools]
    .map(([name, tool]) => ({ name, ...tool, tokens: Math.round(tool.tokens) }))
    .sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
}

function requestLine(event: Event): readonly string[] {
  if (event.type !== "chat_request" || event.metadata?.origin === "harness") return [];
  const { content } = event;
  const text =
    typeof content === "string"
      ? content
      : Array.isArray(content)
        ? content.find(({ type }) => type === "text")?.text
        : "";
  return typeof text === "string" && text.trim() !== "" ? [firstLine(text)] : [];
}
