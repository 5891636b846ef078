// Checks a list of contents against the structural rules of Google's generateContent: each rule is a small function in a
// table, ids as in the rule book (G1 …; G0 = the content is no content).
import { fieldsOf, isFields } from "../event/fields.ts";
import {
  type GoogleCheckOptions,
  type GoogleContent,
  type GoogleInput,
  type GooglePart,
  toGoogleInput,
} from "./google-contents.ts";
import { GOOGLE_TOOL_RULES } from "./google-tools.ts";
import { GOOGLE_IMAGES, misnamedImages, refusedImages, type SentImage } from "./image-rules.ts";
import { type Breach, type Rule, runRules, type Violation } from "./rule.ts";

export type { GoogleCheckOptions, GoogleContent } from "./google-contents.ts";

/**
 * Finds what Google's API would refuse (severity `error`) or what may harm (`warning`); empty = valid. Rules: G0–G11, G13 (images); G8
 * when `model` is a Gemini 3 or newer, the rest of G6 and G11 when `vertex` is given, of G9 what the shape shows.
 */
export function checkGoogle(
  contents: readonly GoogleContent[],
  options: GoogleCheckOptions = {},
): readonly Violation[] {
  return runRules("google", RULES, toGoogleInput(contents, options));
}

/** What a part can hold; exactly one of them. */
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

/** Fields by what they stand in; what is not listed the API does not know. */
const FIELDS = {
  part: new Set([...KINDS, "thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"]),
  functionCall: new Set(["id", "name", "args", "partialArgs", "willContinue"]),
  functionResponse: new Set(["id", "name", "response", "parts", "willContinue", "scheduling"]),
} as const;

function* noContent({ contents }: GoogleInput): Generator<Breach> {
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

/** Images of contents, and of what functions gave. */
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
  { id: "G0", severity: "error", find: noContent },
  { id: "G1", severity: "error", find: wrongRoles },
  { id: "G2", severity: "error", find: wrongLast },
  ...GOOGLE_TOOL_RULES,
  { id: "G7", severity: "error", find: emptyParts },
  { id: "G11", severity: "error", find: unknownFields },
  { id: "G13", severity: "error", find: (input) => refusedImages([...sentImages(input)], GOOGLE_IMAGES) },
  { id: "G13", severity: "warning", find: (input) => misnamedImages([...sentImages(input)], GOOGLE_IMAGES) },
];
