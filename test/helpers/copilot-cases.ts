// Invented sessions of Copilot CLI, one rule each of what it sends when it resumes.
import { begun, type CopilotLine, type CopilotRow, done, said, typed } from "./copilot-session.ts";

interface CopilotCase {
  readonly name: string;
  readonly lines: readonly (CopilotLine | CopilotRow)[];
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const aborted: CopilotLine = ["abort", { reason: "user_initiated" }];
const idle = (content: string, more: object = {}): CopilotLine => [
  "user.message",
  { content, transformedContent: content, attachments: [], delivery: "idle", ...more },
];
const steering = (content: string): CopilotLine => idle(content, { delivery: "steering" });
const started = (trigger = "threshold"): CopilotLine => ["session.compaction_start", { trigger }];
export const compacted = (summaryContent: string, more: object = {}): CopilotLine => [
  "session.compaction_complete",
  { success: true, trigger: "threshold", summaryContent, ...more },
];
const outcome = (toolCallId: string, more: object): CopilotLine => ["tool.execution_complete", { toolCallId, ...more }];
const asset = (assetId: string): CopilotLine => [
  "session.binary_asset",
  { assetId, byteLength: 70, data: PIXEL, mimeType: "image/png", type: "image" },
];
const shell = (more: object): readonly CopilotLine[] => [
  ["tool.user_requested", { toolCallId: "u1", toolName: "bash", arguments: { command: "ls reef" } }],
  outcome("u1", { isUserRequested: true, ...more }),
];
const opened: readonly CopilotLine[] = [begun(), idle("Which kelp grows here?"), said("Bull kelp.")];
const own = (agentId: string, [type, data]: CopilotLine): CopilotRow => ({
  type,
  data: data as CopilotRow["data"],
  agentId,
});
const wrapped = "<current_datetime>noon</current_datetime>\n\nWhich kelp?\n\n<reminder>\nbe kind\n</reminder>";

export const COPILOT_CASES: readonly CopilotCase[] = [
  { name: "a call and its result", lines: [begun(), typed("One"), said("", ["c1"]), done("c1"), said("Two")] },
  { name: "what the agent added to a request", lines: [begun(), typed("Which kelp?", wrapped), said("Bull kelp.")] },
  { name: "words that also occur in what was added", lines: [begun(), typed("on", "<d>noon</d>\n\non"), said("Yes.")] },
  { name: "a request without the sent form", lines: [begun(), ["user.message", { content: "One" }], said("Two")] },
  { name: "two requests in a row", lines: [begun(), typed("One"), typed("Two"), said("Three")] },
  { name: "a request at the end", lines: [...opened, typed("And here?")] },
  {
    name: "an answer of blanks",
    lines: [begun(), typed("One"), said(" ", ["c1"]), done("c1"), said("  "), typed("Two"), said("x")],
  },
  {
    name: "an answer in pieces",
    lines: [
      begun(),
      typed("One"),
      said("Bull ", [], { apiCallId: "r1" }),
      said("kelp.", ["c1"], { apiCallId: "r1" }),
      done("c1"),
      said("Two"),
    ],
  },
  { name: "two answers in a row", lines: [begun(), typed("One"), said("Two"), said("Three")] },
  {
    name: "a call that nobody answered before the next request",
    lines: [begun(), idle("One"), said("", ["c1", "c2"]), done("c1"), idle("Two"), said("Three")],
  },
  {
    name: "the same without a mode of delivery",
    lines: [begun(), typed("One"), said("x", ["c1", "c2"]), done("c1"), typed("Two"), said("Three")],
  },
  {
    name: "a call that nobody answered before the next answer",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1"]),
      ["assistant.turn_end", { turnId: "0" }],
      ["assistant.turn_start", { turnId: "1" }],
      said("Two"),
    ],
  },
  { name: "a stopped call", lines: [begun(), idle("One"), said("x", ["c1"]), aborted, idle("Two"), said("Three")] },
  { name: "a call at the end", lines: [begun(), idle("One"), said("x", ["c1"])] },
  { name: "a stopped call at the end", lines: [begun(), idle("One"), said("x", ["c1"]), aborted] },
  {
    name: "a result after the stop",
    lines: [begun(), idle("One"), said("x", ["c1"]), aborted, done("c1"), idle("Two"), said("Three")],
  },
  {
    name: "a session that was resumed with an open call",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1"]),
      ["session.resume", { resumeTime: "2026-01-02T03:04:00.000Z", eventCount: 3 }],
      done("c1"),
      idle("Two"),
      said("Three"),
    ],
  },
  {
    name: "a message while a call runs",
    lines: [begun(), idle("One"), said("x", ["c1"]), steering("Wait"), done("c1"), said("Two")],
  },
  {
    name: "a notice while a call runs",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1"]),
      ["system.notification", { content: "shell 3 has ended", kind: { type: "shell_completed", shellId: "3" } }],
      done("c1"),
      said("Two"),
    ],
  },
  {
    name: "results in another order than the calls",
    lines: [begun(), typed("One"), said("", ["c1", "c2"]), done("c2", "second"), done("c1", "first"), said("Two")],
  },
  {
    name: "results nobody asked for, and a second one",
    lines: [
      begun(),
      typed("One"),
      done("c9"),
      said("x", ["c1"]),
      done("c1", "first"),
      done("c1", "second"),
      said("Two"),
    ],
  },
  {
    name: "a failed call with a message",
    lines: [
      begun(),
      typed("One"),
      said("", ["c1"]),
      outcome("c1", { success: false, result: { content: "half" }, error: { message: "no such shell" } }),
      said("Two"),
    ],
  },
  {
    name: "a failed call without a message",
    lines: [
      begun(),
      typed("One"),
      said("", ["c1"]),
      outcome("c1", { success: false, result: { content: "half" } }),
      said("Two"),
    ],
  },
  {
    name: "reasoning",
    lines: [
      begun(),
      typed("One"),
      said("", ["c1"], { reasoningText: "I look.", reasoningOpaque: "sealed" }),
      done("c1"),
      said("", [], { reasoningText: "Hm." }),
      typed("Two"),
      said("Three", [], { encryptedContent: "x" }),
    ],
  },
  {
    name: "a call with a text of its own grammar",
    lines: [
      begun(),
      typed("One"),
      [
        "assistant.message",
        {
          content: "",
          toolRequests: [{ toolCallId: "p1", name: "apply_patch", arguments: "*** Begin", type: "custom" }],
        },
      ],
      done("p1"),
      said("Two"),
    ],
  },
  {
    name: "an image in the message",
    lines: [
      begun(),
      idle("Look", { attachments: [{ type: "blob", data: PIXEL, mimeType: "image/png", displayName: "reef.png" }] }),
      said("Two"),
    ],
  },
  {
    name: "an image without a name",
    lines: [
      begun(),
      idle("Look", { attachments: [{ type: "blob", data: PIXEL, mimeType: "image/png" }] }),
      said("Two"),
    ],
  },
  {
    name: "an image file kept in a line before",
    lines: [
      begun(),
      asset("sha256:aa"),
      idle("Look", {
        attachments: [
          {
            type: "file",
            path: "/reef.png",
            displayName: "reef.png",
            assetId: "sha256:aa",
            byteLength: 70,
            mimeType: "image/png",
          },
        ],
      }),
      said("Two"),
    ],
  },
  {
    name: "an image file kept in a line after",
    lines: [
      begun(),
      idle("Look", {
        attachments: [
          {
            type: "file",
            path: "/reef.png",
            displayName: "reef.png",
            assetId: "sha256:aa",
            byteLength: 70,
            mimeType: "image/png",
            omittedReason: "asset_unavailable",
          },
        ],
      }),
      asset("sha256:aa"),
      said("Two"),
    ],
  },
  {
    name: "attached files and a text",
    lines: [
      begun(),
      idle("Look", {
        attachments: [
          { type: "file", path: "/a.txt", displayName: "a.txt", taggedFilesEntry: "* /a.txt (3 lines)" },
          { type: "directory", path: "/reef", displayName: "reef", taggedFilesEntry: "* /reef (2 items)" },
          { type: "blob", data: "a2VscA==", mimeType: "text/plain", displayName: "k.txt" },
        ],
      }),
      said("Two"),
    ],
  },
  {
    name: "a notice",
    lines: [
      begun(),
      typed("One"),
      said("x"),
      ["system.notification", { content: "shell 3 has ended", kind: { type: "shell_completed", shellId: "3" } }],
      said("Two"),
    ],
  },
  {
    name: "a command of the user's own",
    lines: [...opened, ...shell({ success: true, result: { content: "kelp.md" } }), idle("Two"), said("Three")],
  },
  {
    name: "a command of the user's own that failed",
    lines: [...opened, ...shell({ success: false, error: { message: "no reef" } }), idle("Two"), said("Three")],
  },
  {
    name: "a failed command without a message",
    lines: [...opened, ...shell({ success: false, result: { content: "half" } }), idle("Two"), said("Three")],
  },
  {
    name: "messages that nobody typed",
    lines: [
      ...opened,
      idle("By skill", { source: "skill-reef" }),
      said("x"),
      idle("Go on", { isAutopilotContinuation: true }),
      said("y"),
      idle("From another", { source: "agent-7" }),
      said("z"),
    ],
  },
  {
    name: "a system prompt, a skill, a truncation, a name",
    lines: [
      ...opened,
      ["system.message", { role: "developer", content: "DEV" }],
      ["skill.invoked", { name: "reef", path: "/reef/SKILL.md", content: "Dive." }],
      [
        "session.truncation",
        {
          tokenLimit: 8000,
          preTruncationTokensInMessages: 9,
          preTruncationMessagesLength: 4,
          postTruncationTokensInMessages: 3,
          postTruncationMessagesLength: 2,
          tokensRemovedDuringTruncation: 6,
          messagesRemovedDuringTruncation: 2,
          performedBy: "x",
        },
      ],
      typed("Two"),
      said("Three"),
    ],
  },
  {
    name: "a cleared context",
    lines: [...opened, ["session.context_cleared", { messagesCleared: 2 }], typed("Two"), said("Three")],
  },
  {
    name: "a cleared context with a first message",
    lines: [
      ...opened,
      ["session.context_cleared", { messagesCleared: 2, initialMessage: "Begin" }],
      typed("Two"),
      said("Three"),
    ],
  },
  { name: "lines of an unknown type", lines: [begun(), typed("One"), ["reef.sounded", { depth: 3 }], said("Two")] },
  {
    name: "a sub-agent",
    lines: [
      begun(),
      typed("One"),
      said("x", ["t1"]),
      own("a1", [
        "subagent.started",
        { toolCallId: "t1", agentName: "explore", agentDisplayName: "E", agentDescription: "d" },
      ]),
      own("a1", typed("Look")),
      own("a1", said("sub", ["s1"])),
      own("a1", done("s1")),
      own("a1", compacted("Sub.")),
      own("a1", said("end")),
      done("t1", "sub found kelp"),
      said("Two"),
    ],
  },
  {
    name: "a sub-agent of an older version",
    lines: [
      begun(),
      typed("One"),
      said("x", ["t1"]),
      said("sub", ["s1"], { parentToolCallId: "t1" }),
      outcome("s1", { success: true, result: { content: "y" }, parentToolCallId: "t1" }),
      done("t1", "sub found kelp"),
      said("Two"),
    ],
  },
  {
    name: "a compaction",
    lines: [
      ...opened,
      typed("Two", wrapped.replace("Which kelp?", "Two")),
      said("Three"),
      started("manual"),
      compacted("Kelp was seen.", { trigger: "manual" }),
      typed("Four"),
      said("Five"),
    ],
  },
  {
    name: "a compaction without its beginning",
    lines: [...opened, compacted("Kelp was seen."), typed("Four"), said("Five")],
  },
  { name: "a compaction at the end", lines: [...opened, started(), compacted("Kelp was seen.")] },
  { name: "a compaction at the beginning", lines: [begun(), compacted("Kelp was seen."), typed("Four"), said("Five")] },
  {
    name: "a failed compaction",
    lines: [
      ...opened,
      started(),
      compacted("Kelp was seen.", { success: false, error: "no" }),
      typed("Four"),
      said("Five"),
    ],
  },
  {
    name: "compactions without a summary",
    lines: [
      ...opened,
      started(),
      compacted(""),
      ["session.compaction_complete", { success: true }],
      typed("Four"),
      said("Five"),
    ],
  },
  { name: "a blank summary", lines: [...opened, compacted("  "), typed("Four"), said("Five")] },
  {
    name: "two compactions",
    lines: [
      ...opened,
      started(),
      compacted("One."),
      typed("Four"),
      said("Five"),
      started(),
      compacted("Two."),
      typed("Six"),
      said("Seven"),
    ],
  },
  {
    name: "two compactions in a row",
    lines: [...opened, compacted("One."), compacted("Two."), typed("Six"), said("Seven")],
  },
  {
    name: "what was said since a compaction began",
    lines: [
      ...opened,
      started(),
      typed("Two"),
      said("Three"),
      compacted("Kelp was seen."),
      typed("Four"),
      said("Five"),
    ],
  },
  {
    name: "a compaction that began again",
    lines: [
      ...opened,
      started(),
      typed("Two"),
      said("Three"),
      started(),
      typed("Four"),
      said("Five"),
      compacted("Kelp was seen."),
      typed("Six"),
      said("Seven"),
    ],
  },
  {
    name: "a compaction after a failed one",
    lines: [
      ...opened,
      started(),
      compacted("", { success: false }),
      typed("Two"),
      said("Three"),
      compacted("Kelp was seen."),
      typed("Six"),
      said("Seven"),
    ],
  },
  {
    name: "a compaction between a call and its result",
    lines: [begun(), idle("One"), said("x", ["c1"]), compacted("Kelp was seen."), done("c1"), said("Two")],
  },
  {
    name: "a compaction that began and ended between a call and its result",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1"]),
      started(),
      compacted("Kelp was seen."),
      done("c1"),
      said("Two"),
      idle("Three"),
      said("Four"),
    ],
  },
  {
    name: "a compaction that began while a call ran",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1"]),
      started(),
      done("c1"),
      said("y", ["c2"]),
      compacted("Kelp was seen."),
      done("c2"),
      said("Two"),
    ],
  },
  {
    name: "a compaction that began between results",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1", "c2"]),
      done("c1"),
      started(),
      done("c2"),
      compacted("Kelp was seen."),
      said("Two"),
    ],
  },
  {
    name: "a compaction that ended between results",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1", "c2"]),
      started(),
      done("c1"),
      compacted("Kelp was seen."),
      done("c2"),
      said("Two"),
    ],
  },
  {
    name: "a compaction that began after a message to a running call",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1"]),
      steering("Wait"),
      started(),
      done("c1"),
      compacted("Kelp was seen."),
      said("Two"),
    ],
  },
  {
    name: "a compaction in the middle of a turn",
    lines: [
      begun(),
      idle("One"),
      said("x", ["c1"]),
      done("c1"),
      started(),
      compacted("Kelp was seen."),
      said("y", ["c2"]),
      done("c2"),
      said("Two"),
    ],
  },
  {
    name: "the messages that a compaction repeats",
    lines: [
      ...opened,
      idle("By skill", { source: "skill-reef" }),
      said("x"),
      idle("Go on", { isAutopilotContinuation: true }),
      said("y"),
      idle("From another", { source: "agent-7" }),
      steering("  Wait \n"),
      said("z"),
      idle("", {}),
      ...shell({ success: true, result: { content: "kelp.md" } }),
      idle("By the user", { source: "user" }),
      said("w"),
      compacted("  Kelp </summary> was seen.\n"),
      typed("Four"),
      said("Five"),
    ],
  },
  {
    name: "a compaction after a cleared context",
    lines: [
      ...opened,
      compacted("One."),
      typed("Two"),
      said("Three"),
      ["session.context_cleared", { messagesCleared: 2 }],
      typed("Four"),
      said("Five"),
      compacted("Two."),
      typed("Six"),
      said("Seven"),
    ],
  },
];
