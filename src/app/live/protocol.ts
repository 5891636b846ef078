// What a plug-in asks and is told, a JSON object a line each (docs/live.md). A plug-in of another version is understood as far as the
// protocol is the same: unknown fields are ignored, in both directions.
import * as z from "zod/mini";
import { fieldsOf } from "../../core/conversation/event.ts";
import { parseJson } from "../../core/json.ts";
import type { LiveRow } from "../../formats/live-rows.ts";
import type { LiveEdit } from "../../formats/live-writer.ts";
import type { CacheState } from "../models/next-call.ts";

/** Version of the protocol. */
export const LIVE_PROTOCOL = 1;

const ACTIONS = ["keep", "status", "compact", "undo", "find", "show", "log", "diff"] as const;

/** Characters of a line: a context of 100,000 rows, named by ids of 40 characters, with room. */
const LONGEST_LINE = 16_000_000;

const count = z.nullish(z.number().check(z.nonnegative()));
const requestLine: z.ZodMiniType<LiveRequest> = z.object({
  jpg: z.number(),
  do: z.enum(ACTIONS),
  id: z.optional(z.unknown()),
  agent: z.string(),
  session: z.string(),
  transcript: z.nullish(z.string()),
  cwd: z.string(),
  model: z.nullish(z.string()),
  window: count,
  tokens: count,
  form: z._default(z.enum(["messages", "edits", "summary"]), "messages"),
  handles: z._default(z.array(z.string()), []),
  in_loop: z._default(z.boolean(), false),
  trigger: z._default(z.enum(["asked", "manual", "auto"]), "manual"),
  instructions: z.nullish(z.string()),
  compaction: z.nullish(z.string()),
  query: z.nullish(z.string()),
  event: z.nullish(z.string()),
});

/** A request. Tokens are whole; null and absent mean unknown. */
export interface LiveRequest {
  readonly do: (typeof ACTIONS)[number];
  /** Comes back with the answer. */
  readonly id?: unknown;
  /** Name of the agent's format. */
  readonly agent: string;
  /** The agent's session id. */
  readonly session: string;
  /** Absolute path of the session's file; null = the agent keeps sessions in a store of its own. */
  readonly transcript?: string | null | undefined;
  /** Absolute. */
  readonly cwd: string;
  readonly model?: string | null | undefined;
  /** Context window. */
  readonly window?: number | null | undefined;
  /** What the agent counts in its context now. */
  readonly tokens?: number | null | undefined;
  readonly form: "messages" | "edits" | "summary";
  /** Ids of the rows in the agent's context, in order. */
  readonly handles: readonly string[];
  /** Whether the context ends in a result, in the middle of a turn. */
  readonly in_loop: boolean;
  /** `asked`: the user wants jpg's compaction, `manual`: any, `auto`: the window is full. */
  readonly trigger: "asked" | "manual" | "auto";
  /** Name of a profile or pipeline, then what to focus on. */
  readonly instructions?: string | null | undefined;
  /** Which compaction to undo; null = the newest. */
  readonly compaction?: string | null | undefined;
  readonly query?: string | null | undefined;
  readonly event?: string | null | undefined;
}

/** The agent should go on as if jpg were not there. */
export interface LivePass {
  /** Why, a sentence. */
  readonly pass: string;
  /** Stable. */
  readonly code: string;
}

/** What the agent's context becomes. */
export interface LiveChange {
  readonly done: "compact" | "undo";
  readonly conversation: string;
  readonly branch: string;
  readonly commit: string;
  /** Id of the compaction that was made or undone. */
  readonly compaction: string;
  /** Of the view, estimated. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** The whole context, with the form `messages`. */
  readonly messages?: readonly LiveRow[];
  /** What differs from the session's own entries, with the form `edits`. */
  readonly edits?: readonly LiveEdit[];
  /** With the form `edits`: a summary to be installed before them, since the agent's own compaction hides what is shown again. */
  readonly restart?: LiveText;
  /** With the form `summary`. */
  readonly summary?: LiveText;
  /** To be stored in the session before the change is installed; never sent to the model. */
  readonly marker: string;
  /** A line for the person. */
  readonly notice: string;
  readonly status: LiveStatus;
}

/** A text in place of all entries before one. */
interface LiveText {
  readonly text: string;
  /** Id of the first entry that stays. */
  readonly first_kept: string;
}

/** What a plug-in shows. */
export interface LiveStatus {
  readonly conversation: string;
  readonly branch: string;
  /** `window` and `share` are null where the window is not known. */
  readonly context: { readonly tokens: number; readonly window: number | null; readonly share: number | null };
  /** The newest compaction in force. */
  readonly last: LastCompaction | null;
  /** What the context would have without it. */
  readonly undo: { readonly tokens: number } | null;
  readonly hidden: HiddenParts;
  readonly cache: CacheState;
  readonly cost: NextCost;
  /** Lines for the person: the first whose `until` is not past counts. */
  readonly band: readonly BandLine[];
  /** Whether to offer a compaction. */
  readonly offer: boolean;
  /** Whether to compact without being asked: the user turned that on, and it is due. */
  readonly act: boolean;
}

export interface LastCompaction {
  readonly compaction: string;
  readonly commit: string;
  /** Who made it: jpg, or the agent by itself. */
  readonly by: "jpg" | "agent";
  readonly before: number | null;
  readonly after: number | null;
  readonly at: string;
}

/** What the model is not shown; it is all kept. */
export interface HiddenParts {
  /** Events that are left out or changed. */
  readonly events: number;
  readonly tokens: number;
  /** Facts by kind that the newest compaction hides, as its receipt counts them. */
  readonly facts: Readonly<Record<string, number>>;
}

/** What the next request costs, without its new prompt and its answer. `usd` at list price, null = not known. */
export interface NextCost {
  readonly model: string | null;
  readonly without: { readonly tokens: number; readonly usd: number | null };
  /** After a compaction; null = there is nothing to gain, or it was not tried. */
  readonly with: {
    readonly tokens: number;
    /** Of these, what goes into the cache anew. */
    readonly rewritten: number;
    readonly usd: number | null;
    /** What each request after it costs less, as long as the cache is warm. */
    readonly saved_usd: number | null;
    /** Requests after the next one until that has paid for it, 0 or more; null = never, or not known. */
    readonly pays_after: number | null;
  } | null;
}

export interface BandLine {
  /** RFC 3339 UTC; absent = for good. */
  readonly until?: string;
  readonly text: string;
}

export type LiveAnswer =
  | LivePass
  | LiveChange
  | ({ readonly done: "keep" | "status" } & LiveStatus)
  | { readonly done: "find" | "show" | "log" | "diff"; readonly text: string };

/** Parses a line. */
export function parseLiveRequest(line: string): LiveRequest | LivePass {
  if (line.length > LONGEST_LINE) return badRequest(`a line of ${line.length} characters, more than ${LONGEST_LINE}`);
  const given = parseJson(line, z.unknown());
  const version = fieldsOf(given)["jpg"];
  if (typeof version !== "number") return badRequest('a line that is no JSON object with "jpg": 1');
  if (version !== LIVE_PROTOCOL)
    return {
      pass: `This jpg speaks version ${LIVE_PROTOCOL} of its protocol, the plug-in version ${version}: \`jpg hooks install\` brings the plug-in up to date.`,
      code: "other_protocol",
    };
  const parsed = requestLine.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return badRequest(`${issue?.path.join(".") || "the request"}: ${issue?.message ?? "not as expected"}`);
}

function badRequest(what: string): LivePass {
  return { pass: `jpg live received ${what}; docs/live.md says what it expects.`, code: "bad_request" };
}
