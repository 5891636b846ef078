import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import {
  type CheckReport,
  type CheckRequest,
  checkConversation,
  checkFile,
  findCheckedFile,
} from "../../../src/app/integrity/check.ts";
import { PROVIDER_NAMES } from "../../../src/core/model/provider-rules.ts";
import { createClaudeWriter, type Json, sessionBytes } from "../../helpers/claude-session.ts";
import { corpusMissing, listGoldens, sharedFolder } from "../../helpers/corpus.ts";
import { TINY_PNG } from "../../helpers/random-conversation.ts";
import { createMemoryWorkspace, createTestRuntime, importBytes, tipOf } from "../../helpers/workspace.ts";

const folder = mkdtempSync(join(tmpdir(), "jpg-check-"));
afterAll(() => rmSync(folder, { recursive: true }));
const runtime = createTestRuntime(folder);

function fileOf(name: string, content: unknown): string {
  const path = join(folder, name);
  const isText = typeof content === "string" || content instanceof Uint8Array;
  writeFileSync(path, isText ? content : JSON.stringify(content));
  return path;
}

const checkOf = (content: unknown, request: CheckRequest = {}): Promise<CheckReport> =>
  checkFile(runtime, fileOf("checked.json", content), request);

/** Breaches as "provider rule message.block event". */
const found = ({ violations }: CheckReport): string[] =>
  violations.map(({ provider, rule, position: { message, block }, event }) =>
    [provider, rule, block === undefined ? message : `${message}.${block}`, event]
      .filter((x) => x !== undefined)
      .join(" "),
  );

/** A session in which the result of a call names another call. */
function damagedSession(): Json[] {
  const writer = createClaudeWriter();
  writer.prompt("Measure the tide");
  writer.tools(1);
  writer.say("Done.");
  return writer.lines.map(
    (line) => JSON.parse(JSON.stringify(line).replace(/("tool_use_id":")[^"]*/, "$1toolu_lost")) as Json,
  );
}

const user = (text: string): Json => ({ role: "user", content: text });

describe("check of a conversation", () => {
  it.each([
    [
      "whole",
      () => {
        const writer = createClaudeWriter();
        writer.prompt("Measure the tide");
        writer.think("hm", "Looking.");
        writer.tools(2, [1, 0]);
        return writer.lines;
      },
    ],
    ["damaged", damagedSession],
  ])("finds nothing in what jpg sends of a %s session, for any provider", async (_, lines) => {
    const workspace = await createMemoryWorkspace();
    const { branch } = await importBytes(workspace, sessionBytes(lines()));
    const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    expect(await checkConversation(workspace, tree, {})).toMatchObject({
      ok: true,
      violations: [],
      kind: "view",
      source: branch,
      checked: [{ provider: "anthropic", model: "claude-sonnet-4-5-20250929" }],
    });
    const all = await checkConversation(workspace, tree, { provider: "all" });
    expect(all.ok).toBe(true);
    expect(all.checked.map(({ provider, model }) => [provider, model])).toEqual(
      PROVIDER_NAMES.map((name) => [name, name === "anthropic" ? "claude-sonnet-4-5-20250929" : undefined]),
    );
    for (const to of PROVIDER_NAMES) {
      const bare = await exportConversation(workspace, tree, { to, fullHistory: false, messages: true });
      const body = await exportConversation(workspace, tree, { to, fullHistory: false, model: "claude-opus-4-8" });
      for (const report of [
        await checkOf(bare, { provider: to, history: true }),
        await checkOf(body, { provider: to }),
      ])
        expect(report).toMatchObject({ ok: true, violations: [], checked: [{ provider: to }] });
    }
  });
});

/** A session with images: one of the user's, and one that a tool gave; neither is what it is called. */
function sessionWithImages(): Json[] {
  const writer = createClaudeWriter();
  const image = { type: "image", source: { type: "base64", media_type: "image/jpeg", data: TINY_PNG } };
  writer.prompt("Measure the tide");
  writer.tools(1);
  writer.say("Done.");
  return writer.lines.map((line) => {
    const { message } = line as { message?: { role: string; content: unknown } };
    if (message?.role !== "user") return line;
    const content = Array.isArray(message.content)
      ? [{ ...(message.content[0] as Json), content: [image] }]
      : [{ type: "text", text: "look" }, image];
    return { ...line, message: { ...message, content } };
  });
}

describe("check of images", () => {
  it("names the events that hold them, in a file and in a view", async () => {
    const lines = sessionWithImages();
    const ids = lines.filter((line) => line["type"] === "user").map((line) => String(line["uuid"]));
    const wanted = [
      ["A24", ids[0]],
      ["A24", ids[1]],
    ];
    const byEvent = ({ violations }: CheckReport) => violations.map(({ rule, event }) => [rule, event]);
    expect(byEvent(await checkFile(runtime, fileOf("s.jsonl", sessionBytes(lines)), {}))).toEqual(wanted);
    const workspace = await createMemoryWorkspace();
    const { branch } = await importBytes(workspace, sessionBytes(lines));
    const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    const report = await checkConversation(workspace, tree, { provider: "all" });
    expect(report.ok).toBe(false);
    expect([...new Set(report.violations.map(({ provider }) => provider))]).toEqual([...PROVIDER_NAMES]);
    expect(byEvent(await checkConversation(workspace, tree, {}))).toEqual(wanted);
  });
});

describe("check of a session file", () => {
  it("finds what is wrong in it, and names the events", async () => {
    const report = await checkFile(runtime, fileOf("s.jsonl", sessionBytes(damagedSession())), {});
    const ids = damagedSession().map((line) => String(line["uuid"]));
    expect(report).toMatchObject({ ok: false, kind: "session", checked: [{ provider: "anthropic", messages: 4 }] });
    expect(found(report)).toEqual([`anthropic A1 1.0 ${ids[1]}`, `anthropic A2 2.0 ${ids[2]}`]);
    const all = await checkFile(runtime, fileOf("s.jsonl", sessionBytes(damagedSession())), { provider: "all" });
    expect(found(all).map((line) => line.replace(/ \S+ \S+$/, ""))).toEqual([
      "anthropic A1",
      "anthropic A2",
      "openai-chat C1",
      "openai-chat C2",
      "openai-responses R1",
      "openai-responses R2",
    ]);
  });
});

describe("check of a request", () => {
  it("goes by its shape and its own model", async () => {
    const prefill = { model: "claude-opus-4-8", messages: [user("go"), { role: "assistant", content: "I" }] };
    expect(found(await checkOf(prefill))).toEqual(["anthropic A14 1"]);
    expect(found(await checkOf(prefill, { model: "claude-3-5-haiku-20241022" }))).toEqual([]);
    expect(found(await checkOf(prefill, { history: true }))).toEqual([]);
    const contents = [
      { role: "model", parts: [] },
      { role: "user", parts: [{ text: "go" }] },
    ];
    expect(found(await checkOf(contents))).toEqual(["google G1 0", "google G7 0"]);
    const stray = [{ type: "function_call_output", call_id: "a", output: "x" }];
    expect(found(await checkOf({ input: stray }))).toEqual(["openai-responses R2 0"]);
    expect(await checkOf({ input: stray, previous_response_id: "r" })).toMatchObject({ ok: true });
    const tool = { role: "tool", tool_call_id: "a", content: "" };
    expect(found(await checkOf({ messages: [user("go"), tool] }))).toEqual(["openai-chat C2 1"]);
  });

  it.skipIf(corpusMissing !== null)(
    "corpus: recognises what real agents sent, and finds nothing that is refused",
    async () => {
      const sent = {
        "claude-code": "anthropic",
        codex: "openai-responses",
        opencode: "openai-chat",
        "gemini-cli": "google",
      };
      for (const [agent, provider] of Object.entries({ ...sent, pi: "anthropic" })) {
        const goldens = listGoldens(agent);
        expect(goldens.length).toBeGreaterThan(0);
        for (const { golden, model } of goldens) {
          const report = await checkFile(runtime, join(sharedFolder, "goldens", golden), { model });
          expect({ golden, ok: report.ok, provider: report.checked[0]?.provider }).toEqual({
            golden,
            ok: true,
            provider,
          });
        }
      }
    },
  );

  it("stays ok with warnings alone", async () => {
    expect(await checkOf({ system: "x", messages: [user("a"), user("b")] })).toMatchObject({
      ok: true,
      violations: [{ rule: "A13", severity: "warning" }],
    });
  });

  it("takes the provider asked for where the shape allows it, and says so where not", async () => {
    const report = await checkOf([user("go")], { provider: "openai-responses" });
    expect(report.checked).toEqual([{ provider: "openai-responses", messages: 1 }]);
    expect((await checkOf([user("go")], { provider: "all" })).checked).toHaveLength(1);
    await expect(checkOf({ contents: [] }, { provider: "anthropic" })).rejects.toMatchObject({
      code: "wrong_provider",
      message: expect.stringMatching(/google, not to anthropic/) as string,
    });
  });

  it.each([
    ["", "empty_file"],
    ["hello", "not_checkable"],
    ['{"messages":', "not_checkable"],
    ['{"error":{}}', "not_checkable"],
    ["[1,2]", "not_checkable"],
    [new Uint8Array([0xff, 0xfe, 0]), "not_checkable"],
  ])("refuses %j", async (content, code) => {
    await expect(checkOf(content)).rejects.toMatchObject({ code, kind: "user" });
  });
});

describe("findCheckedFile", () => {
  it("distinguishes files from conversations", async () => {
    const path = fileOf("a.json", "{}");
    fileOf("pier", "{}");
    mkdirSync(join(folder, "tide"), { recursive: true });
    expect(await findCheckedFile(runtime, "a.json")).toBe(path);
    expect(await findCheckedFile(runtime, "./pier")).toBe(join(folder, "pier"));
    for (const word of [undefined, "", "@", "-", "tide", "harbour-4f2e/main"])
      expect(await findCheckedFile(runtime, word)).toBeNull();
    for (const word of ["none.jsonl", "./tide", folder])
      await expect(findCheckedFile(runtime, word)).rejects.toMatchObject({ code: "no_such_file" });
  });
});
