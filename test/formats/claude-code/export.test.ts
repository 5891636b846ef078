import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Thread } from "../../../src/core/model/thread.ts";
import { type ClaudeExport, exportClaudeCode } from "../../../src/formats/claude-code/write.ts";
import { lineUuid, readExportOrigin } from "../../../src/formats/imported-session.ts";
import { EXPORT_CASES, plainThread } from "./export-views.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest();
const lineId = (source: string): string => lineUuid(SESSION, source, sha1);

const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };

type Line = Record<string, unknown> & {
  message?: { id?: string; model?: string; content: unknown; stop_reason?: unknown };
};

function exportCase(
  name: string,
  change: (thread: Thread) => Thread = (thread) => thread,
): ClaudeExport & { all: Line[]; nodes: Line[] } {
  const view = EXPORT_CASES.find((one) => one.name === name)?.view;
  if (view === undefined) throw new Error(`no case ${name}`);
  const result = exportClaudeCode({
    thread: change(plainThread(view)),
    view,
    sessionId: SESSION,
    lineId,
    origin: ORIGIN,
    cwd: "/tmp/kelp",
  });
  const all = result.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return { ...result, all, nodes: all.filter((line) => line["uuid"] !== undefined) };
}

describe("exportClaudeCode", () => {
  it("names its origin in the first line, so that an import recognises it", () => {
    expect(readExportOrigin(exportCase("plain").all[0])).toEqual(ORIGIN);
  });

  it.each(EXPORT_CASES.map(({ name }) => name))(
    "writes one chain whose every line is reachable from the last: %s",
    (name) => {
      const { nodes, text } = exportCase(name);
      expect(nodes.map((line) => line["parentUuid"])).toEqual([
        null,
        ...nodes.slice(0, -1).map((line) => line["uuid"]),
      ]);
      expect(new Set(nodes.map((line) => line["uuid"])).size).toBe(nodes.length);
      expect(nodes.every((line) => line["sessionId"] === SESSION && typeof line["timestamp"] === "string")).toBe(true);
      expect(text.endsWith("\n")).toBe(true);
    },
  );

  it("knows which event or compaction each line shows", () => {
    const { nodes, lines } = exportCase("summary at the start, as a pair");
    expect(nodes.map((line) => lines.get(String(line["uuid"])))).toEqual(["k3f9q2", "k3f9q2", "k3f9q2", "b1", "b2"]);
    expect(nodes.map((line) => line["uuid"])).toEqual(
      ["k3f9q2.boundary", "k3f9q2.request", "k3f9q2.response", "b1", "b2"].map(lineId),
    );
  });

  it("gives the same bytes for the same view", () => {
    expect(exportCase("plain").text).toBe(exportCase("plain").text);
  });

  it("writes one line a block, joined by the message id, with the stop reason on the last", () => {
    const { nodes } = exportCase("plain");
    const assistant = nodes.filter((line) => line["type"] === "assistant");
    expect(
      assistant.map(({ message }) => [message?.id, [message?.content].flat().length, message?.stop_reason]),
    ).toEqual([
      ["msg_01", 1, null],
      ["msg_01", 1, "tool_use"],
      ["msg_02", 1, "end_turn"],
      ["msg_03", 1, "end_turn"],
    ]);
  });

  it("ties each result to the line of its call", () => {
    const { nodes } = exportCase("stripped tools with foreign names, parallel calls and an error");
    const results = nodes.filter((line) => line["sourceToolAssistantUUID"] !== undefined);
    expect(results.map((line) => line["sourceToolAssistantUUID"])).toEqual([lineId("a2"), lineId("a3")]);
  });

  it("leaves the token counts of the original messages out", () => {
    expect(exportCase("plain").text).not.toContain('"usage"');
  });

  it("names no model of another provider", () => {
    const { nodes } = exportCase("stripped tools with foreign names, parallel calls and an error");
    expect(nodes.at(-1)?.message?.model).toBe("<synthetic>");
  });

  it("starts a compacted view with a boundary and marks the summary as one", () => {
    const { nodes } = exportCase("summary at the start, as a request, and the remainder of its last turn");
    expect(nodes.slice(0, 3)).toMatchObject([
      { type: "system", subtype: "compact_boundary", parentUuid: null },
      {
        type: "user",
        isCompactSummary: true,
        message: { content: "This session is being continued. We mapped beds." },
      },
      { type: "assistant" },
    ]);
  });

  it("starts with a boundary also when the block names only its compaction", () => {
    const { nodes, lines } = exportCase("plain", () => ({
      messages: [
        { role: "user", blocks: [{ compaction: "zz", block: { type: "text", text: "summary" } }] },
        { role: "assistant", blocks: [{ event: "b2", block: { type: "text", text: "ok" } }] },
      ],
      hardening: [],
    }));
    expect(nodes.map((line) => lines.get(String(line["uuid"])))).toEqual(["zz", "zz", "b2"]);
    expect(nodes[1]).toMatchObject({ isCompactSummary: true });
    expect(nodes.map((line) => line["uuid"])).toEqual(["zz.boundary", "zz", "b2"].map(lineId));
  });

  it("dates a summary that no event is named for by its place in the view", () => {
    const { nodes } = exportCase("summary at the start, as a pair", (thread) => ({
      ...thread,
      messages: thread.messages.map(({ role, blocks }) => ({
        role,
        blocks: blocks.map((one) =>
          one.event?.startsWith("k3f9q2") ? { compaction: "k3f9q2", block: one.block } : one,
        ),
      })),
    }));
    expect(nodes.slice(0, 3).map((line) => String(line["timestamp"]).slice(0, 10))).toEqual(
      Array(3).fill("2026-03-04"),
    );
    expect(nodes[2]?.["uuid"]).toBe(lineId("k3f9q2#1"));
  });

  it("writes a summary in the middle as a text that no person typed", () => {
    const { nodes } = exportCase("summary in the middle");
    expect(nodes[2]).toMatchObject({ type: "user", isMeta: true });
    expect(nodes.some((line) => line["isCompactSummary"] !== undefined || line["type"] === "system")).toBe(false);
  });

  it("never gives two messages one message id", () => {
    const { nodes } = exportCase("redacted thinking and a message id used twice");
    const ids = nodes.filter((line) => line["type"] === "assistant").map(({ message }) => message?.id);
    expect(ids).toEqual(["msg_01", "msg_01", "msg_01_3"]);
  });

  it("leaves reasoning out that is unsigned or another provider's", () => {
    const view = EXPORT_CASES[0]?.view;
    const foreign = exportCase("plain", (thread) => ({
      ...thread,
      messages: thread.messages.map((message) => ({
        ...message,
        blocks: message.blocks.map((one) =>
          one.block["type"] === "thinking" ? { ...one, block: { type: "thinking", thinking: "hm" } } : one,
        ),
      })),
    }));
    expect(view).toBeDefined();
    expect(foreign.text).not.toContain('"thinking"');
  });

  it("writes queued prompts and the harness's texts as attachments, other injected texts as meta lines", () => {
    const queued = exportCase("a prompt typed while the agent worked, in the middle and at the end").nodes;
    expect(queued.filter((line) => line["type"] === "attachment").map((line) => line["attachment"])).toEqual([
      { type: "queued_command", prompt: "also the south bed", commandMode: "prompt" },
      { type: "queued_command", prompt: "and the reef", commandMode: "prompt" },
    ]);
    const harness = exportCase("harness texts with and without the agent's own attachment").nodes;
    expect(harness.slice(1, 3)).toMatchObject([
      {
        type: "attachment",
        attachment: { type: "date_change" },
        rendered: [{ content: expect.stringContaining("date has changed") }],
        renderedRole: "system",
      },
      {
        type: "user",
        isMeta: true,
        message: { content: "<system-reminder>\nThe file was formatted.\n</system-reminder>" },
      },
    ]);
  });

  it("writes a summary of role system behind the first request as a reminder, without a boundary", () => {
    const { nodes } = exportCase("plain", (thread) => ({
      ...thread,
      messages: [
        ...thread.messages.slice(0, 1),
        { role: "system", blocks: [{ compaction: "zz", block: { type: "text", text: "Five beds." } }] },
        ...thread.messages.slice(1),
      ],
    }));
    expect(nodes[1]).toMatchObject({
      type: "user",
      isMeta: true,
      message: { content: "<system-reminder>\nFive beds.\n</system-reminder>" },
    });
    expect(nodes.some((line) => line["isCompactSummary"] !== undefined || line["type"] === "system")).toBe(false);
  });

  it("writes a message of role system as a reminder", () => {
    const { nodes } = exportCase("plain", (thread) => ({
      ...thread,
      messages: [
        ...thread.messages.slice(0, 1),
        { role: "system", blocks: [{ block: { type: "text", text: "Mind the tide." } }] },
        ...thread.messages.slice(1),
      ],
    }));
    expect(nodes[1]).toMatchObject({
      isMeta: true,
      message: { content: "<system-reminder>\nMind the tide.\n</system-reminder>" },
    });
    expect(nodes[1]?.["uuid"]).toBe(lineId("a1#1"));
  });

  it("writes a queued prompt with an image as blocks", () => {
    const { nodes } = exportCase(
      "a prompt typed while the agent worked, in the middle and at the end",
      ({ messages }) => ({
        messages: messages.map(({ role, blocks }) => ({
          role,
          blocks: blocks.flatMap((one) => (one.event === "a6" ? [one, { ...one, block: IMAGE }] : [one])),
        })),
        hardening: [],
      }),
    );
    expect(nodes.at(-1)?.["attachment"]).toMatchObject({ prompt: [{ type: "text", text: "and the reef" }, IMAGE] });
  });

  it("writes the agent's own attachment once, whatever the thread made of it", () => {
    const { nodes } = exportCase("harness texts with and without the agent's own attachment", ({ messages }) => ({
      messages: messages.flatMap((message) => [message, { role: "user", blocks: [{ event: "a2", block: IMAGE }] }]),
      hardening: [],
    }));
    expect(nodes.filter((line) => line["type"] === "attachment").length).toBe(1);
    expect(nodes.filter((line) => JSON.stringify(line).includes("AAAA")).length).toBe(0);
  });
});
