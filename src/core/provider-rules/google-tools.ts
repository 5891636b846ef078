// Rules G3–G6 and G8–G10 of Google's generateContent: how calls and their results must stand, and what signatures calls
// carry.
import type { GoogleInput, GooglePart, PlacedContent } from "./google-contents.ts";
import { hasGoogleFeature } from "./google-models.ts";
import { currentTurnStart, DUMMY_SIGNATURE, isSignature } from "./google-signature.ts";
import type { Breach, Rule } from "./rule.ts";

function* callsAfterModel({ contents }: GoogleInput): Generator<Breach> {
  for (const [at, content] of contents.entries()) {
    const call = firstOf(content, "functionCall");
    if (content.role !== "model" || call < 0 || contents[at - 1]?.role === "user") continue;
    const before = contents[at - 1] === undefined ? "nothing" : `a content of role ${contents[at - 1]?.role}`;
    yield {
      position: { message: content.index, block: call },
      message: `A functionCall stands after ${before}; expected a user content right before it.`,
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

function* unasked({ contents }: GoogleInput): Generator<Breach> {
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
        message: `The first functionCall of a step of the current turn has no thoughtSignature; ${options.model} wants one.`,
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
        message: "A thoughtSignature is the dummy: the call is not checked, the thought behind it lost.",
      };
  }
}

/** Rules G3–G6 and G8–G10, in order. */
export const GOOGLE_TOOL_RULES: readonly Rule<GoogleInput>[] = [
  { id: "G3", severity: "error", find: callsAfterModel },
  { id: "G4", severity: "error", find: unequalCounts },
  { id: "G5", severity: "error", find: unasked },
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
