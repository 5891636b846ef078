// The messages of an exported session: each later than the one before, by which OpenCode orders them, with parts in order.
import type { SessionDraft } from "../agent-format.ts";
import type { RawLine } from "../json-line.ts";
import { lineName } from "../line-names.ts";
import { writtenMessageId, writtenPartId } from "./export-ids.ts";

/** Whoever answers, as OpenCode names models. */
export interface OpenCodeModel {
  readonly providerID: string;
  readonly modelID: string;
}

/** A message before it has an id. */
export interface MessageDraft {
  /** What its id is made of: an event's id, or a compaction's. */
  readonly key: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly model: OpenCodeModel;
  /** By the message's time, milliseconds since 1970. */
  readonly parts: (time: number) => readonly RawLine[];
}

interface NewMessage {
  readonly id: string;
  readonly parts: readonly RawLine[];
}

interface WrittenMessage {
  readonly info: RawLine;
  readonly parts: readonly RawLine[];
}

/** Collects messages. Holds state on purpose: an answer names the request before it, and none is as early as the one before. */
export interface MessageChain {
  addRequest(draft: MessageDraft, how?: { readonly queued?: boolean }): void;
  addAnswer(draft: MessageDraft, how?: { readonly summary?: boolean }): void;
  readonly messages: readonly WrittenMessage[];
  /** Time of the newest message, milliseconds since 1970. */
  time(): number;
}

/** Who works in a session; a user may have renamed or removed others. */
const AGENT = "build";
/** Counts of other requests say nothing of this view, and OpenCode takes the newest for the size of its context. */
const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

/** Creates an empty chain; `start` = the session's time, milliseconds since 1970. */
export function createMessageChain({ sessionId, cwd, sha1 }: SessionDraft, start: number): MessageChain {
  const messages: WrittenMessage[] = [];
  const counts = new Map<string, number>();
  let time = start;
  let asked: string | undefined;
  const add = (draft: MessageDraft, describe: (message: NewMessage) => RawLine): NewMessage | null => {
    const at = Math.max(time + 1, Date.parse(draft.timestamp) || 0);
    const parts = draft.parts(at);
    if (parts.length === 0) return null;
    time = at;
    const count = counts.get(draft.key) ?? 0;
    counts.set(draft.key, count + 1);
    const message = { id: writtenMessageId(sessionId, lineName(draft.key, count), sha1), parts };
    const info = { id: message.id, sessionID: sessionId, ...describe(message) };
    messages.push({ info, parts: parts.map((part, place) => placePart(part, place, info)) });
    return message;
  };
  return {
    messages,
    time: () => time,
    addRequest: (draft, { queued = false } = {}) => {
      const at = messages.findLastIndex(({ info }) => info["role"] === "assistant");
      const added = add(draft, () => ({ role: "user", time: { created: time }, agent: AGENT, model: draft.model }));
      asked = added?.id ?? asked;
      const before = messages[at];
      if (queued && added !== null && before !== undefined) messages[at] = workingUntil(before, time);
    },
    addAnswer: (draft, { summary = false } = {}) => {
      const mode = summary ? "compaction" : AGENT;
      add(draft, ({ id, parts }) => ({
        role: "assistant",
        parentID: asked ?? id,
        ...draft.model,
        mode,
        agent: mode,
        path: { cwd, root: cwd },
        ...(summary && { summary }),
        cost: 0,
        tokens: NO_TOKENS,
        time: { created: time, completed: time },
        finish: parts.some(({ type }) => type === "tool") ? "tool-calls" : "stop",
      }));
    },
  };
}

/** What was typed while the agent worked on an answer is known by the answer's end, and by that it was not the last. */
function workingUntil({ info, parts }: WrittenMessage, completed: number): WrittenMessage {
  const finish = info["finish"] === "stop" ? "unknown" : info["finish"];
  return { info: { ...info, time: { ...(info["time"] as RawLine), completed }, finish }, parts };
}

/** Files that a tool gave are parts of their own, beside its output. */
function placePart(part: RawLine, place: number, { id, sessionID }: RawLine): RawLine {
  const messageID = String(id);
  const own = { id: writtenPartId(messageID, place), sessionID, messageID };
  const state = part["state"] as RawLine | undefined;
  const files = state?.["attachments"] as readonly RawLine[] | undefined;
  if (files === undefined) return { ...own, ...part };
  const attachments = files.map((file, at) => ({ ...own, id: `${own.id}${at}`, ...file }));
  return { ...own, ...part, state: { ...state, attachments } };
}
