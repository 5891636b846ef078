// A list of contents in the shape of Google's generateContent, prepared once for all rules: roles filled in, names of
// fields in camel case, which the API takes besides snake case.
import { isFields } from "../event/fields.ts";

/** A part in the provider's shape. */
export type GooglePart = Readonly<Record<string, unknown>>;

/** A content in the provider's shape; the API reads an absent role as `user`. */
export interface GoogleContent {
  readonly role?: string;
  readonly parts?: readonly GooglePart[];
}

/** What decides about rules that are not in the shape alone. */
export interface GoogleCheckOptions {
  /** Model the list is meant for; absent = an older Gemini. */
  readonly model?: string;
  /** Whether Vertex AI will read it, which takes less (G6, G11); default false. */
  readonly vertex?: boolean;
  /** Whether the list is sent as it stands (default true); false = a new request will follow, so its end is not judged. */
  readonly complete?: boolean;
}

/** One content with its position in the given list. */
export interface PlacedContent {
  /** 0-based. */
  readonly index: number;
  readonly role: string;
  /** Absent when the content has no list of parts. */
  readonly parts: readonly GooglePart[];
  /** Fields of the content beside role and parts. */
  readonly extra: readonly string[];
}

/** The input of every rule. */
export interface GoogleInput {
  readonly contents: readonly PlacedContent[];
  readonly options: GoogleCheckOptions;
}

/** Prepares a list for the rules. What is no object counts as empty (rule G0 or G7 names it). */
export function toGoogleInput(contents: readonly GoogleContent[], options: GoogleCheckOptions): GoogleInput {
  return { contents: contents.map((content, index) => place(toRecord(content), index)), options };
}

function place(content: Readonly<Record<string, unknown>>, index: number): PlacedContent {
  const { role = "user", parts, ...extra } = content;
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  return {
    index,
    role: typeof role === "string" ? role : JSON.stringify(role),
    parts: list.map((part) => inCamelCase(toRecord(part))),
    extra: Object.keys(extra),
  };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? value : {};
}

function inCamelCase(part: GooglePart): GooglePart {
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, next: string) => next.toUpperCase()),
      value,
    ]),
  );
}
