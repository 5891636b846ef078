// Checks a list of contents against the structural rules of Google's generateContent.
import { fieldsOf, isFields } from "../conversation/event.ts";
import { GOOGLE_IMAGES, misnamedImages, refusedImages, type SentImage } from "./image-rules.ts";
import { type Breach, type Rule, runRules, type Violation } from "./provider-rules.ts";

// Differences between the models that Google's API serves, as a table, so that a new model is a row and no code. An unknown name counts as
// an older Gemini.

/** What some models require. */
type GoogleFeature =
  /** The first call of each step carries a thought signature (G8). */
  | "signed_calls"
  /** Calls and results carry ids. */
  | "call_ids";

interface ModelRange {
  readonly feature: GoogleFeature;
  /** Beginning of the model's name, without the route (`models/` …). */
  readonly family: "gemini" | "claude" | "gpt-oss";
  /** First major version that has it. */
  readonly from: number;
}

/** Sources: ai.google.dev, thought signatures and function calling; pi `google-shared.ts` (ids for Claude and gpt-oss). */
const RANGES: readonly ModelRange[] = [
  { feature: "signed_calls", family: "gemini", from: 3 },
  { feature: "call_ids", family: "gemini", from: 3 },
  { feature: "call_ids", family: "claude", from: 0 },
  { feature: "call_ids", family: "gpt-oss", from: 0 },
];

/** `gemini-3-pro-preview`, `models/gemini-2.5-flash`, `publishers/google/models/gemini-3.1-pro`, `claude-opus-4-8@default`. */
const NAME = /(?:^|\/)(gemini|claude|gpt-oss)-(\d+)?/;

/** Returns whether a model has a feature; false without a model. */
export function hasGoogleFeature(model: string | undefined, feature: GoogleFeature): boolean {
  const [, family, major = "0"] = NAME.exec(model?.toLowerCase() ?? "") ?? [];
  return RANGES.some((range) => range.feature === feature && range.family === family && Number(major) >= range.from);
}

/** Google's documented value for calls that another model made. */
export const DUMMY_SIGNATURE = "skip_thought_signature_validator";

/** Whether a value can be a signature: base64, either alphabet, not empty. The dummy is none. */
export function isSignature(value: unknown): value is string {
  return typeof value === "string" && value !== DUMMY_SIGNATURE && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value);
}

/** The part of a content that shows where turns begin. */
interface TurnContent {
  readonly role: string;
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

/** Position of the newest user content with a text: the current turn begins there. -1 when there is none. */
export function currentTurnStart(contents: readonly TurnContent[]): number {
  return contents.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some((part) => typeof part["text"] === "string"),
  );
}

/** A part in the provider's shape. */
export type GooglePart = Readonly<Record<string, unknown>>;

/** A content in the provider's shape; the API reads an absent role as `user`. */
export interface GoogleContent {
  readonly role?: string;
  readonly parts?: readonly GooglePart[];
}

/** What the rules depend on apart from the list itself. */
export interface GoogleCheckOptions {
  /** Model the list is for; absent = an older Gemini. */
  readonly model?: string;
  /** Whether the list is for Vertex AI, which accepts less (G6, G11); default false. */
  readonly vertex?: boolean;
  /** Whether the list is sent as it is (default true); false = a new request will follow, so its end is not checked. */
  readonly complete?: boolean;
}

/** One content with its position in the given list. */
interface PlacedContent {
  /** 0-based. */
  readonly index: number;
  readonly role: string;
  /** Absent when the content has no list of parts. */
  readonly parts: readonly GooglePart[];
  /** Fields of the content other than role and parts. */
  readonly extra: readonly string[];
}

/** The input of every rule. */
interface GoogleInput {
  readonly contents: readonly PlacedContent[];
  readonly options: GoogleCheckOptions;
}

/** Prepares a list for the rules. A content or part that is no object counts as an empty one, which G0 or G7 reports. */
function toGoogleInput(contents: readonly GoogleContent[], options: GoogleCheckOptions): GoogleInput {
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

// Rules G3–G6 and G8–G10 of Google's generateContent: the order of calls and their results, and the signatures that calls carry.

function* callsAfterModel({ contents }: GoogleInput): Generator<Breach> {
  for (const [at, content] of contents.entries()) {
    const call = firstOf(content, "functionCall");
    if (content.role !== "model" || call < 0 || contents[at - 1]?.role === "user") continue;
    const before = contents[at - 1] === undefined ? "nothing" : `a content of role ${contents[at - 1]?.role}`;
    yield {
      position: { message: content.index, block: call },
      message: `A functionCall comes after ${before}; expected a user content right before it.`,
    };
  }
}

function* unequalCounts({ contents }: GoogleInput): Generator<Breach> {
  for (const [at, content] of contents.entries()) {
    const calls = content.role === "model" ? countOf(content, "functionCall") : 0;
    const next = contents[at + 1];
    const responses = next?.role === "user" ? countOf(next, "functionResponse") : 0;
    if (calls === 0 || calls === responses) continue;
    yield {
      position: { message: content.index, block: firstOf(content, "functionCall") },
      message: `${calls} functionCall parts, ${responses} functionResponse parts in the next user content; expected as many.`,
    };
  }
}

function* unaskedResponses({ contents }: GoogleInput): Generator<Breach> {
  for (const [at, content] of contents.entries()) {
    const before = contents[at - 1];
    const asked = content.role === "user" && before?.role === "model" && countOf(before, "functionCall") > 0;
    if (asked) continue;
    for (const [block, part] of content.parts.entries()) {
      if (part["functionResponse"] === undefined) continue;
      yield {
        position: { message: content.index, block },
        message: `The functionResponse ${nameOf(part)} answers no functionCall of the content before it.`,
      };
    }
  }
}

function* mixedResponses({ contents, options }: GoogleInput): Generator<Breach> {
  for (const content of contents) {
    const last = content.parts.findLastIndex((part) => part["functionResponse"] !== undefined);
    const other = content.parts.findIndex((part) => part["functionResponse"] === undefined);
    if (last < 0 || other < 0 || (other > last && options.vertex !== true)) continue;
    const message =
      options.vertex === true
        ? "functionResponse parts share a content with other parts; Vertex accepts them only alone."
        : "A functionResponse comes after other parts.";
    yield { position: { message: content.index, block: Math.max(last, other) }, message };
  }
}

function* unsignedSteps({ contents, options }: GoogleInput): Generator<Breach> {
  if (options.complete === false || !hasGoogleFeature(options.model, "signed_calls")) return;
  for (const content of contents.slice(currentTurnStart(contents) + 1)) {
    const block = content.role === "model" ? firstOf(content, "functionCall") : -1;
    const signature = content.parts[block]?.["thoughtSignature"];
    if (block >= 0 && (signature === undefined || signature === "")) {
      yield {
        position: { message: content.index, block },
        message: `The first functionCall of a step of the current turn has no thoughtSignature; ${options.model} requires one.`,
      };
    }
  }
}

function* badSignatures(input: GoogleInput): Generator<Breach> {
  for (const { value, position } of signatures(input)) {
    if (value === DUMMY_SIGNATURE || value === "" || isSignature(value)) continue;
    yield { position, message: "A thoughtSignature is not base64." };
  }
}

function* dummySignatures(input: GoogleInput): Generator<Breach> {
  for (const { value, position } of signatures(input)) {
    if (value === DUMMY_SIGNATURE)
      yield {
        position,
        message: "A thoughtSignature is the dummy: the call is not checked and its thought is lost.",
      };
  }
}

/** Rules G3–G6 and G8–G10, in order. */
const GOOGLE_TOOL_RULES: readonly Rule<GoogleInput>[] = [
  { id: "G3", severity: "error", find: callsAfterModel },
  { id: "G4", severity: "error", find: unequalCounts },
  { id: "G5", severity: "error", find: unaskedResponses },
  { id: "G6", severity: "error", find: mixedResponses },
  { id: "G8", severity: "error", find: unsignedSteps },
  { id: "G9", severity: "error", find: badSignatures },
  { id: "G10", severity: "warning", find: dummySignatures },
];

function* signatures({ contents }: GoogleInput): Generator<{ value: unknown; position: Breach["position"] }> {
  for (const { index, parts } of contents) {
    for (const [block, part] of parts.entries()) {
      const value = part["thoughtSignature"];
      if (value !== undefined) yield { value, position: { message: index, block } };
    }
  }
}

function firstOf({ parts }: PlacedContent, field: string): number {
  return parts.findIndex((part) => part[field] !== undefined);
}

function countOf({ parts }: PlacedContent, field: string): number {
  return parts.filter((part) => part[field] !== undefined).length;
}

function nameOf(part: GooglePart): string {
  const response = part["functionResponse"] as { readonly name?: unknown } | null;
  return JSON.stringify(response?.name ?? null);
}

/**
 * Finds what Google's API would refuse (severity `error`) or what may harm (`warning`); empty = valid. Checks rules G0–G11 and G13
 * (images): G8 if `model` is a Gemini 3 or newer, all of G6 and G11 only with `vertex`, and of G9 what the list itself shows.
 */
export function checkGoogle(
  contents: readonly GoogleContent[],
  options: GoogleCheckOptions = {},
): readonly Violation[] {
  return runRules("google", RULES, toGoogleInput(contents, options));
}

/** What a part can contain; exactly one of them. */
const KINDS = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];

/** Known fields by the object they are in; the API rejects all others. */
const FIELDS = {
  part: new Set([...KINDS, "thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"]),
  functionCall: new Set(["id", "name", "args", "partialArgs", "willContinue"]),
  functionResponse: new Set(["id", "name", "response", "parts", "willContinue", "scheduling"]),
} as const;

function* malformedContents({ contents }: GoogleInput): Generator<Breach> {
  for (const { index, role, parts } of contents) {
    if (role !== "user" && role !== "model")
      yield { position: { message: index }, message: `The role is ${JSON.stringify(role)}; expected user or model.` };
    for (const [block, part] of parts.entries()) {
      const problem = problemOf(part);
      if (problem !== null) yield { position: { message: index, block }, message: problem };
    }
  }
}

/** What is wrong with the shape of a part; null when nothing is. */
function problemOf(part: GooglePart): string | null {
  const kinds = KINDS.filter((kind) => part[kind] !== undefined);
  if (kinds.length > 1) return `A part holds ${kinds.join(" and ")}; expected one of them.`;
  const [kind] = kinds;
  if (kind === undefined) {
    // A signature may come in a part of its own.
    return part["thoughtSignature"] === undefined ? `A part holds none of ${KINDS.join(", ")}.` : null;
  }
  const value = part[kind];
  if (kind === "text") return typeof value === "string" ? null : "A text is not a string.";
  if (!isFields(value)) return `The ${kind} is not an object.`;
  return kind === "functionCall" || kind === "functionResponse" ? problemOfTool(kind, value) : null;
}

function problemOfTool(kind: "functionCall" | "functionResponse", { name, args, response }: GooglePart): string | null {
  if (typeof name !== "string" || name === "") return `A ${kind} has no name.`;
  const isFine = kind === "functionCall" ? args === undefined || isFields(args) : isFields(response);
  const field = kind === "functionCall" ? "args" : "response";
  return isFine ? null : `The ${field} of the ${kind} ${JSON.stringify(name)} is not an object.`;
}

function* wrongRoles({ contents, options }: GoogleInput): Generator<Breach> {
  const [first] = contents;
  if (first === undefined && options.complete !== false)
    yield { position: { message: 0 }, message: "The list is empty." };
  if (first !== undefined && first.role !== "user")
    yield { position: { message: 0 }, message: `The first content has role ${first.role}; expected user.` };
  for (const [at, { index, role }] of contents.entries()) {
    if (contents[at - 1]?.role === role)
      yield { position: { message: index }, message: `Two contents of role ${role} in a row; roles must alternate.` };
  }
}

function* wrongLast({ contents, options }: GoogleInput): Generator<Breach> {
  const last = contents.at(-1);
  if (options.complete === false || last === undefined || last.role === "user") return;
  yield { position: { message: last.index }, message: `The last content has role ${last.role}; expected user.` };
}

function* emptyParts({ contents }: GoogleInput): Generator<Breach> {
  for (const { index, role, parts } of contents) {
    if (parts.length === 0) yield { position: { message: index }, message: `A content of role ${role} has no parts.` };
    for (const [block, part] of parts.entries()) {
      if (part["text"] === "" && part["thoughtSignature"] === undefined)
        yield { position: { message: index, block }, message: "A text is empty." };
    }
  }
}

function* unknownFields({ contents, options }: GoogleInput): Generator<Breach> {
  for (const { index, parts, extra } of contents) {
    if (extra.length > 0) yield { position: { message: index }, message: `A content has ${listed(extra)}.` };
    for (const [block, part] of parts.entries()) {
      const unknown = unknownOf(part, options.vertex === true);
      if (unknown.length > 0) yield { position: { message: index, block }, message: `A part has ${listed(unknown)}.` };
    }
  }
}

function unknownOf(part: GooglePart, vertex: boolean): string[] {
  const inside = (["functionCall", "functionResponse"] as const).flatMap((kind) => {
    const value = part[kind];
    const names = isFields(value) ? Object.keys(value) : [];
    return names
      .filter((name) => !FIELDS[kind].has(name) || (vertex && name === "id"))
      .map((name) => `${kind}.${name}`);
  });
  return [...Object.keys(part).filter((name) => !FIELDS.part.has(name)), ...inside];
}

function listed(names: readonly string[]): string {
  return `${names.length === 1 ? "a field" : "fields"} that the API does not know: ${names.join(", ")}`;
}

/** Finds the images in contents and in the results of functions. */
function* sentImages({ contents }: GoogleInput): Generator<SentImage> {
  for (const { index, parts } of contents) {
    for (const [block, part] of parts.entries()) {
      for (const holder of withResults(part)) {
        const image = fieldsOf(holder["inlineData"] ?? holder["inline_data"]);
        const mediaType = image["mimeType"] ?? image["mime_type"];
        if (/^image\//i.test(String(mediaType)))
          yield { position: { message: index, block }, mediaType, data: image["data"] };
      }
    }
  }
}

function withResults(part: GooglePart): readonly GooglePart[] {
  const { parts } = fieldsOf(part["functionResponse"]);
  return [part, ...(Array.isArray(parts) ? parts.map(fieldsOf) : [])];
}

const RULES: readonly Rule<GoogleInput>[] = [
  { id: "G0", severity: "error", find: malformedContents },
  { id: "G1", severity: "error", find: wrongRoles },
  { id: "G2", severity: "error", find: wrongLast },
  ...GOOGLE_TOOL_RULES,
  { id: "G7", severity: "error", find: emptyParts },
  { id: "G11", severity: "error", find: unknownFields },
  { id: "G13", severity: "error", find: (input) => refusedImages([...sentImages(input)], GOOGLE_IMAGES) },
  { id: "G13", severity: "warning", find: (input) => misnamedImages([...sentImages(input)], GOOGLE_IMAGES) },
];
