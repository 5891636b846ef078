// A content type as a value: all that is specific to one kind of content. Projection, coverage, the check of records,
// descriptions and settings iterate over the table of them (content-types.ts): a policy for another kind of content is a file
// and a row.
import type { CallPolicy, Compaction, ContentPolicies, SelectedCall, StripPolicies } from "../compaction.ts";
import type { Event, ToolCallRequest } from "../event.ts";
import { oneOfWords, type RecordRule } from "../record-rules.ts";
import type { StubOptions } from "../tool-stub.ts";

/** What happens to an event. `keep` = shown unchanged because the winner says so. */
export interface Disposition {
  readonly compaction: Compaction;
  /** The content type on which the compaction won the event. `hiding` = summary, replacement and omission of turns. */
  readonly content: string;
  readonly action: "hide" | CallPolicy;
  /** Of a stripped result: the call whose arguments' head its stub shows; absent = none. */
  readonly headOf?: ToolCallRequest;
}

/** A compaction that covers an event, with the calls that it names by id of the request; null when it names none. */
export interface CompactionWithCalls {
  readonly compaction: Compaction;
  readonly calls: ReadonlyMap<string, SelectedCall> | null;
}

/** What shortening needs to know in addition to the event. */
export interface ShorteningContext extends StubOptions {
  /** Name of the tool whose result the event is; undefined when its call is not known. */
  readonly tool?: string | undefined;
}

/** What a policy decides; never asked about an event that is hidden or kept. */
export type Shortening = Exclude<CallPolicy, "keep" | "omit">;

/** How projection applies a policy. */
export interface Projected {
  /** The content type of docs/FORMAT.md §5.1 that an event has here; null = none. */
  contentOf(event: Event): string | null;
  /** What a compaction says of such an event; undefined = no opinion. `call` = the call that a result answers. */
  opinion(
    voice: CompactionWithCalls,
    event: Event,
    call: ToolCallRequest | undefined,
  ): Pick<Disposition, "action" | "headOf"> | undefined;
  /** What is left of an event; null = nothing. Returns the event itself when nothing changes. */
  shorten(
    event: Event,
    action: Shortening,
    { compaction, context }: { readonly compaction: Compaction; readonly context: ShorteningContext },
  ): Event | null;
}

/** How an event must look in the view. `truncated` = no longer than before; `stub` = its content. */
export type Expectation = "gone" | "unchanged" | "stripped" | "truncated" | { readonly stub: string };

/** An event, and what the view shows of it. */
export interface Copied {
  readonly event: Event;
  readonly copy: Event;
}

/** What a policy may do, stated a second time for the coverage invariant, independently of `Projected`. */
export interface Covered {
  appliesTo(event: Event): boolean;
  /** How a compaction wants such an event to look; undefined = no opinion. `call` = the call that a result answers. */
  expects(compaction: Compaction, event: Event, call: ToolCallRequest | undefined): Expectation | undefined;
  /** Whether what is shown is stripped as it should be. Kind, id and metadata are checked elsewhere. */
  isStripped(copied: Copied): boolean;
  /** For parts of events: returns both without the parts and without their replacements. */
  setAside?(copied: Copied): Copied;
}

/** Words for what a policy does. */
export interface ContentWords {
  /** What is stripped, e.g. `reasoning`; these are joined. */
  readonly stripped?: readonly string[];
  /** Clauses of their own, e.g. `tool calls omitted`. */
  readonly other?: readonly string[];
}

type PolicyOf<Key extends keyof ContentPolicies> = NonNullable<ContentPolicies[Key]>;

/** A kind of content that a compaction can have an opinion on. */
export interface ContentType<Key extends keyof ContentPolicies = keyof ContentPolicies> {
  /** The field that holds the policy, in a record, a profile and a strategy's result. */
  readonly content: Key;
  /** The record's fields that belong to it, with their rules. */
  readonly fields: Readonly<Record<string, RecordRule>>;
  /** What a person may write for the policy in a profile; absent = other forms, or nothing. */
  readonly words?: readonly [string, ...string[]];
  /** Reads what a person wrote in a profile. Throws `bad_policy`. Absent = the value is stored as it is. */
  parse?(value: unknown, where: string): PolicyOf<Key>;
  describe(policy: PolicyOf<Key>): ContentWords;
  /** The policy as one word, for trailers, e.g. `truncate:2000`. */
  brief(policy: PolicyOf<Key>): string;
  /** The policy in full, a line each, for diffs of records. Absent = its field and its word. */
  lines?(policy: PolicyOf<Key>): readonly string[];
  /** The word for it in the notice of what a view hides; absent = not mentioned. */
  readonly noun?: string;
  /** Whether a reader that does not know it must refuse the record: older versions of jpg lack it. */
  readonly isNeeded?: true;
  /** Whether it changes requests (range-location.ts). */
  readonly touchesRequests?: true;
  /** Whether it is about parts of events that have another content type too: it is applied after that one. */
  readonly isPart?: true;
  /** Absent = it changes no event. */
  readonly projected?: Projected;
  readonly covered?: Covered;
}

const STRIP = { action: "strip" } as const;

/** The common fields of content types that are stripped or not. */
export function strippedContent<const Key extends keyof StripPolicies>(
  content: Key,
): Pick<ContentType<Key>, "content" | "fields" | "words" | "noun" | "describe" | "brief"> & Pick<Projected, "opinion"> {
  return {
    content,
    noun: content,
    fields: { [content]: oneOfWords("strip") },
    words: ["strip"],
    describe: () => ({ stripped: [content] }),
    brief: (policy) => policy,
    opinion: ({ compaction }) => (compaction[content] === undefined ? undefined : STRIP),
  };
}
