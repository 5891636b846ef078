// The lines of an exported session, in one straight chain: every line's parent is the line before it, so nothing but what
// was written is reachable. Dates come from the events; ids from the events' ids. Only fields that the agent needs.
import { defined } from "../../core/json.ts";
import { lineName } from "../line-names.ts";

/** One line before it has an id and a parent. */
export interface LineDraft {
  /** What the id is made of: the event's id; absent = the line goes with the one before it. */
  readonly key: string | undefined;
  /** Event or compaction it shows. */
  readonly shows: string | undefined;
  /** RFC 3339; absent = that of the line before. */
  readonly timestamp: string | undefined;
  /** Everything but ids, parent and the fields all lines share; `type` first. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What all lines share. */
export interface LineFrame {
  readonly sessionId: string;
  readonly cwd: string;
  /** Version of the agent whose lines these are made like. */
  readonly version: string;
  readonly gitBranch: string | undefined;
}

/** The date of a line before which nothing is dated. */
const NO_DATE = "1970-01-01T00:00:00.000Z";

/** Collects lines. Holds state on purpose: a line's parent is the line before it. */
export interface LineChain {
  /** Adds a line and gives its id. */
  readonly add: (draft: LineDraft) => string;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** Event or compaction each line shows, by the line's id; "" before any. */
  readonly shown: ReadonlyMap<string, string>;
}

/** Creates an empty chain. `lineId` gives a UUID for a line's name. */
export function createLineChain(frame: LineFrame, lineId: (sourceId: string) => string): LineChain {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const shown = new Map<string, string>();
  const counts = new Map<string, number>();
  const { gitBranch, ...common } = frame;
  const shared = {
    isSidechain: false,
    userType: "external",
    ...common,
    ...defined({ gitBranch }),
  };
  let last = { uuid: null as string | null, key: "", shows: "", timestamp: NO_DATE };
  const add = ({ body, ...draft }: LineDraft): string => {
    const key = draft.key ?? last.key;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const uuid = lineId(lineName(key, count));
    const shows = draft.shows ?? last.shows;
    const timestamp = draft.timestamp ?? last.timestamp;
    lines.push({ parentUuid: last.uuid, ...shared, ...body, uuid, timestamp });
    shown.set(uuid, shows);
    last = { uuid, key, shows, timestamp };
    return uuid;
  };
  return { add, lines, shown };
}

/** Body of the line that opens a compacted session, as the agent writes it. */
export const BOUNDARY_BODY: LineDraft["body"] = {
  type: "system",
  subtype: "compact_boundary",
  content: "Conversation compacted",
  isMeta: false,
  level: "info",
  compactMetadata: { trigger: "manual", preTokens: 0 },
};

/** Marks of a summary as the agent writes them. */
export const SUMMARY_MARKS: LineDraft["body"] = { isCompactSummary: true, isVisibleInTranscriptOnly: true };

/** Creates the body of a user line; `content` is a text or a list of blocks. */
export function createUserBody(content: unknown, marks: LineDraft["body"]): LineDraft["body"] {
  return { type: "user", ...marks, message: { role: "user", content } };
}

/** What an assistant line holds. */
export interface AssistantLine {
  readonly messageId: string;
  readonly model: string;
  readonly block: Readonly<Record<string, unknown>>;
  /** Null on all but the last line of a message. */
  readonly stopReason: "tool_use" | "end_turn" | null;
}

/**
 * Creates the body of an assistant line. It has no `usage`: the counts of the original requests say nothing of this view,
 * and the agent takes the newest for the size of its context.
 */
export function createAssistantBody({ messageId, model, block, stopReason }: AssistantLine): LineDraft["body"] {
  const message = {
    id: messageId,
    type: "message",
    role: "assistant",
    model,
    content: [block],
    stop_reason: stopReason,
    stop_sequence: null,
  };
  return { type: "assistant", message };
}
