// Invented sessions with something wrong in them: values of other types, huge, empty and deep ones, odd Unicode, lines that
// are cut, repeated, moved or glued.
import fc from "fast-check";
import type { Json } from "./claude-session.ts";
import { codexLines } from "./codex-session.ts";
import { begun, done, framed, noticed, said, typed } from "./copilot-session.ts";
import { anySteps as geminiSteps, writeSteps } from "./gemini-steps.ts";
import { variedJpStream } from "./jp-steps.ts";
import { variedOpenCodeSession } from "./opencode-session.ts";
import { variedPiSession } from "./pi-session.ts";
import { buildSession, type SessionStep } from "./session-builder.ts";

const BASES: readonly (readonly SessionStep[])[] = [
  ["prompt", "think", { tools: 2 }, "say", "prompt", { tools: 1 }, "say", "prompt", "say"],
  ["prompt", "say", "queue", "progress", { tools: 3, order: "late" }, "say", { compact: 1 }, "prompt", "say"],
  ["prompt", "snapshot", "title", "sidechain", "say", "prompt", { tools: 2 }, { rewind: 0 }, "prompt", "say"],
];

const nested = (levels: number): unknown => {
  let value: unknown = "core";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const oddText = fc.constantFrom(
  "",
  " ",
  "\n",
  "a\nb",
  "a\u2028b\u2029c",
  "\u0000\u001b]52;c;\u0007",
  "\ud800",
  "\ufeffx",
  "\u202e\u2066",
  "__proto__",
  "constructor",
  "$attachment",
  "../../x",
  ".git",
  "-",
  "9".repeat(400),
  "x".repeat(300_000),
  "é".repeat(100_000),
  "1999-99-99T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
);
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddText },
  fc.constantFrom(null, true, 0, -1, 1e308, [], {}, [[]], [null], [{}], [1, "a"]),
  fc.constantFrom({ $attachment: "x" }, { $$attachment: null }, { $$$attachment: { $attachment: 1 } }),
  fc.constantFrom(nested(60), nested(490), nested(600), nested(5000)),
  fc.constantFrom(
    Array.from({ length: 3000 }, () => ({ type: "text", text: "p" })),
    [{ type: "text" }, { type: 1 }],
  ),
);

/** A change of the lines; numbers choose among what is there. */
type Mutation =
  | {
      readonly kind: "set" | "delete";
      readonly line: number;
      readonly path: readonly number[];
      readonly value: unknown;
    }
  | { readonly kind: "repeat" | "drop" | "cut" | "mark" | "nul" | "glue" | "move"; readonly line: number };

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("set" as const, "set" as const, "set" as const, "delete" as const),
      line: fc.nat(60),
      path: fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }),
      value: oddValue,
    }),
  },
  fc.record({
    kind: fc.constantFrom(
      "repeat" as const,
      "drop" as const,
      "cut" as const,
      "mark" as const,
      "nul" as const,
      "glue" as const,
      "move" as const,
    ),
    line: fc.nat(60),
  }),
);

/** The text of a Claude Code session of the given id, with one to five mutations. */
export function mutatedSession(session: string): fc.Arbitrary<string> {
  return mutatedLines(fc.constantFrom(...BASES).map((base) => buildSession(base, { session }).lines));
}

/** Likewise of a session of pi. */
export function mutatedPiSession(session: string): fc.Arbitrary<string> {
  return mutatedLines(fc.constantFrom(1, 2, 3).map((version) => variedPiSession(session, version as 1 | 2 | 3).lines));
}

/** Likewise of a session of Codex. */
export function mutatedCodexSession(session: string): fc.Arbitrary<string> {
  return mutatedLines(fc.constant(codexLines(session)));
}

/** Likewise of a session of Copilot CLI. */
export const mutatedCopilotSession: fc.Arbitrary<string> = mutatedLines(
  fc.constant(
    framed([
      begun(),
      typed("One", "<t/>One"),
      said("", ["c1", "c2"], { reasoningText: "r", reasoningOpaque: "s", outputTokens: 3, model: "m" }),
      done("c1"),
      ["tool.execution_complete", { toolCallId: "c2", success: false, error: { message: "e" } }],
      noticed("n"),
      said("Yes"),
      ["session.model_change", { newModel: "m2" }],
      typed("Two"),
      ["abort", { reason: "r" }],
    ]),
  ),
);
/** Likewise of a session of OpenCode, which is one document: its description and messages are changed as lines are. */
export function mutatedOpenCodeSession(session: string): fc.Arbitrary<string> {
  const { info, messages } = variedOpenCodeSession(session);
  const bases = fc.constant([info, ...messages] as readonly Json[]);
  return mutatedLines(bases).map((text) => {
    const [first, ...rest] = text.trimEnd().split("\n");
    return `{"info":${first},"messages":[${rest.join(",")}]}`;
  });
}

/** Likewise of a stream of jp; a document with one entry that is no JSON is none, so that in most of them there is none. */
export const mutatedJpStream: fc.Arbitrary<string> = fc
  .tuple(mutatedLines(fc.constant(variedJpStream() as readonly Json[])), fc.nat(9))
  .map(([text, broken]) => {
    const lines = text.trimEnd().split("\n");
    return `[${lines.filter((line) => broken === 0 || parseOrNull(line) !== null).join(",\n")}]\n`;
  });

/** Likewise of a session of Gemini CLI. */
export function mutatedGeminiSession(): fc.Arbitrary<string> {
  return mutatedLines(geminiSteps.map(writeSteps));
}

function mutatedLines(bases: fc.Arbitrary<readonly Json[]>): fc.Arbitrary<string> {
  return fc.tuple(bases, fc.array(mutation, { minLength: 1, maxLength: 5 })).map(([base, mutations]) => {
    const lines = base.map((line) => JSON.stringify(line));
    for (const each of mutations) mutate(lines, each);
    return `${lines.join("\n")}\n`;
  });
}

function mutate(lines: string[], change: Mutation): void {
  const at = change.line % Math.max(1, lines.length);
  const text = lines[at];
  if (text === undefined) return;
  switch (change.kind) {
    case "set":
    case "delete":
      lines[at] = changeValue(text, change);
      break;
    case "repeat":
      lines.splice(at, 0, text);
      break;
    case "drop":
      lines.splice(at, 1);
      break;
    case "move":
      lines.push(...lines.splice(at, 1));
      break;
    case "cut":
      lines[at] = text.slice(0, text.length >> 1);
      break;
    case "mark":
      lines[at] = `\ufeff${text}`;
      break;
    case "nul":
      lines[at] = `\u0000${text}`;
      break;
    case "glue":
      lines[at] = `${text}${text}`;
      break;
  }
}

/** Goes down as the path says, as far as there is something, and changes what it ends at. */
function changeValue(
  text: string,
  { kind, path, value }: Extract<Mutation, { readonly path: readonly number[] }>,
): string {
  const line = parseOrNull(text);
  if (line === null) return text;
  let parent: Json = line;
  for (const [depth, choice] of path.entries()) {
    const keys = Object.keys(parent);
    const key = keys[choice % Math.max(1, keys.length)];
    if (key === undefined) break;
    const inner = parent[key];
    if (depth < path.length - 1 && typeof inner === "object" && inner !== null) parent = inner as Json;
    else {
      if (kind === "delete") delete parent[key];
      else parent[key] = value;
      break;
    }
  }
  // What nests too deep for JSON.stringify is written by hand, as an attacker would.
  try {
    return JSON.stringify(line);
  } catch {
    return `{"type":"user","message":{"content":${"[".repeat(5000)}${"]".repeat(5000)}}}`;
  }
}

function parseOrNull(text: string): Json | null {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null; // cut or glued before
  }
}
