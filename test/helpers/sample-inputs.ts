// Sound inputs of every format that jpg reads: what the helpers of the formats write, and what jpg itself exports to them.
import { createHash } from "node:crypto";
import { agents } from "../../src/app/sessions/session-registry.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import { exportGoogle } from "../../src/formats/google/write.ts";
import { exportOpenAiChat } from "../../src/formats/openai-chat/write.ts";
import { exportOpenAiResponses } from "../../src/formats/openai-responses/write.ts";
import { EXPORT_CASES } from "../formats/claude-code/export-views.ts";
import { codexLines } from "./codex-session.ts";
import { begun, done, framed, noticed, said, typed } from "./copilot-session.ts";
import { documentBytes, sessionBytes, variedGeminiSession } from "./gemini-session.ts";
import { variedOpenCodeSession } from "./opencode-session.ts";
import { variedPiSession } from "./pi-session.ts";
import { buildSession } from "./session-builder.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest();
const VIEWS = EXPORT_CASES.map(({ view }) => view);
const linesOf = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

const CLINE = {
  version: 1,
  agent: "lead",
  sessionId: "1784000000000_kelpy",
  system_prompt: "You are Cline.",
  messages: [
    {
      id: "m1",
      role: "user",
      ts: 1,
      content: [
        { type: "text", text: "Which?" },
        { type: "file", path: "a", content: "b" },
      ],
    },
    {
      id: "m2",
      role: "assistant",
      ts: 2,
      modelInfo: { id: "m", provider: "cline" },
      metrics: { inputTokens: 1, outputTokens: 2, cost: 0.1 },
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "read_files", input: {} },
      ],
    },
    { id: "m3", role: "user", ts: 3, content: [{ type: "tool_result", tool_use_id: "c1", content: "kelp" }] },
    { id: "m4", role: "user", ts: 4, content: "And now?" },
  ],
};

/** What helpers write, by format. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  opencode: [variedOpenCodeSession("ses_varied00000000000000000001").bytes().toString()],
  "claude-code": [
    ["prompt", "think", { tools: 2 }, "say", "prompt", { tools: 1 }, "say", "prompt", "say"] as const,
    [
      "prompt",
      "say",
      "queue",
      "progress",
      { tools: 3, order: "late" },
      "say",
      { compact: 1 },
      "prompt",
      "say",
    ] as const,
    ["prompt", "snapshot", "title", "sidechain", "say", "prompt", { tools: 2 }, { rewind: 0 }, "prompt"] as const,
  ].map((steps) => linesOf(buildSession(steps).lines)),
  codex: [linesOf(codexLines("019b1111-2222-7333-8444-555555555555"))],
  pi: ([1, 2, 3] as const).map((version) => linesOf(variedPiSession(SESSION, version).lines)),
  "copilot-cli": [
    linesOf(
      framed([
        begun(),
        typed("One", "<t/>One"),
        said("", ["c1", "c2"], { reasoningText: "r", reasoningOpaque: "s", outputTokens: 3, model: "m" }),
        done("c1"),
        ["tool.execution_complete", { toolCallId: "c2", success: false, error: { message: "e" } }],
        noticed("n"),
        typed("Two"),
        ["session.truncation", { tokensRemoved: 3 }],
        ["abort", { reason: "r" }],
      ]),
    ),
  ],
  cline: [JSON.stringify(CLINE, null, "\t")],
  aider: [
    "\n# aider chat started at 2025-03-01 09:30:00\n\n> aider kelp.py  \n> Main model: gpt-5 with diff edit format  \n\n#### Sort  \n#### it  \n\nDone.\n\n" +
      "\n# aider chat started at 2025-03-02 10:00:00\n\n#### Two  \n\nSecond.\n",
  ],
  "gemini-cli": [
    sessionBytes(variedGeminiSession()).toString(),
    documentBytes(variedGeminiSession().filter(({ id }) => id !== undefined)).toString(),
  ],
  anthropic: VIEWS.map((view) => JSON.stringify(exportAnthropic(view))),
  "openai-chat": VIEWS.map((view) => JSON.stringify(exportOpenAiChat(view))),
  "openai-responses": VIEWS.map((view) => JSON.stringify(exportOpenAiResponses(view))),
  google: VIEWS.map((view) => JSON.stringify(exportGoogle(view))),
};

const known = new Map<string, readonly string[]>();

/** Gives sound inputs of a format. Throws for one that jpg does not write, and that has none above. */
export function sampleBodies(format: string): readonly string[] {
  const made = known.get(format);
  if (made !== undefined) return made;
  const writer = agents().find(({ name }) => name === format)?.write;
  const draft = { sessionId: SESSION, origin: ORIGIN, cwd: "/tmp/kelp", title: "Kelp beds", sha1, sha256: String };
  const exported = writer === undefined ? [] : VIEWS.map((view) => writer.write({ ...draft, view }));
  const bodies = [...(WRITTEN[format] ?? []), ...exported];
  if (bodies.length === 0) throw new Error(`${format} has no sample: put one into ${import.meta.filename}`);
  known.set(format, bodies);
  return bodies;
}

/** Pieces of anything. */
export const EXPORTED: readonly string[] = Object.values(WRITTEN).flat();
