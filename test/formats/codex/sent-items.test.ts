// What Codex sends again of a rollout, and what it passes over, as seen in runs of 0.169 and 0.171: the view holds exactly that.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { toOpenAiResponsesThread } from "../../../src/core/model/openai-responses-thread.ts";
import { toOwnReasoning } from "../../../src/formats/codex/turns.ts";
import { writeCodexSession } from "../../../src/formats/codex/write.ts";
import {
  answer,
  call,
  compacted,
  compactedSummary,
  importRollout,
  item,
  type Json,
  meta,
  output,
  prompt,
  said,
  turnsOf,
  wentBack,
} from "../../helpers/codex-session.ts";

function viewOf(lines: readonly Json[]) {
  const session = importRollout([meta(), ...lines]);
  return projectTurns(turnsOf(session), session.compactions);
}

/** The items of the view. */
function items(...lines: readonly Json[]): readonly Json[] {
  const thread = toOpenAiResponsesThread(viewOf(lines), {
    systemMessages: true,
    reasoningItem: toOwnReasoning,
    compactionsStay: true,
  });
  return thread.items.map(({ item: sent }) => sent);
}

/** One word an item: who says what, calls and outputs by id. */
function sent(...lines: readonly Json[]): readonly string[] {
  return items(...lines).map((one) => {
    const { type, role, content, call_id: id } = one as Record<string, unknown>;
    const texts = Array.isArray(content) ? content.map(({ text }: { text?: string }) => text ?? "?").join("|") : "";
    if (type === "message") return `${String(role)[0]}: ${texts}`;
    return id === undefined ? String(type) : `${String(type).replace("function_", "")} ${String(id)}`;
  });
}

/** The items of an export to Codex. */
function exported(...lines: readonly Json[]): readonly Json[] {
  const text = writeCodexSession({
    view: viewOf(lines),
    sessionId: "6f1a2b3c-0000-4000-8000-00000000abcd",
    origin: { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) },
    cwd: "/tmp/kelp",
    title: "Kelp beds",
    sha1: (bytes) => createHash("sha1").update(bytes).digest(),
    sha256: (one) => one,
  });
  const all = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; payload: Json });
  return all.filter(({ type }) => type === "response_item").map(({ payload }) => payload);
}

const harness = (tag: string) => prompt(`<${tag}>\nx\n</${tag}>`);

describe("an item that Codex cannot read", () => {
  it.each<[string, Json]>([
    ["of an unknown type", { type: "crystal_ball", text: "hm" }],
    ["of a type that it never sends", { type: "compaction_trigger" }],
    ["a prompt", { type: "message", role: "system", content: [{ type: "input_text", text: "Be brief." }] }],
    ["with a text for its content", { type: "message", role: "user", content: "plain" }],
    ["with an unknown part", { type: "message", role: "user", content: [{ type: "input_smell", smell: "kelp" }] }],
    ["with a file", { type: "message", role: "user", content: [{ type: "input_file", filename: "a.pdf" }] }],
    ["in an unknown phase", { type: "message", role: "assistant", content: [], phase: "dreaming" }],
    ["a call without arguments", { type: "function_call", name: "f", call_id: "c9" }],
    ["reasoning without a summary", { type: "reasoning", encrypted_content: "gAAA" }],
    [
      "a shell call without a status",
      { type: "local_shell_call", call_id: "c9", action: { type: "exec", command: [] } },
    ],
    ["a search by nobody", { type: "tool_search_call", arguments: { query: "kelp" } }],
    ["an image without a result", { type: "image_generation_call", status: "failed" }],
    ["what an agent said as a text", { type: "agent_message", author: "/a", recipient: "/b", content: "hello" }],
  ])("is a note and not sent: %s", (_, payload) => {
    expect(sent(prompt("One"), item(payload), answer("Two"))).toEqual(["u: One", "a: Two"]);
    const session = importRollout([meta(), prompt("One"), item(payload), answer("Two")]);
    expect(session.readTurn(0).filter(({ type }) => type === "note")).toHaveLength(2);
  });

  it("makes a compaction whose list has it none; one of an unknown type is only left out", () => {
    const lines = [prompt("One"), answer("Two")];
    expect(sent(...lines, compacted([said("S"), { type: "function_call", name: "f" }]))).toEqual(["u: One", "a: Two"]);
    expect(sent(...lines, compacted([said("S"), { type: "crystal_ball" }]))).toEqual(["u: S"]);
    expect(sent(...lines, { type: "compacted", payload: { replacement_history: [said("S")] } })).toHaveLength(2);
  });
});

describe("calls and their outputs", () => {
  it("stay where they were recorded, also after other words of the user", () => {
    expect(sent(prompt("One"), call("c1"), call("c2"), prompt("faster"), output("c2"), output("c1"))).toEqual([
      "u: One",
      "call c1",
      "call c2",
      "u: faster",
      "call_output c2",
      "call_output c1",
    ]);
  });

  it("get an output directly after the call where none was recorded", () => {
    const lines = [prompt("One"), call("c1"), call("c2"), output("c2"), answer("Two")];
    expect([items(...lines)[2], exported(...lines)[2]]).toMatchObject([{ output: "aborted" }, { output: "aborted" }]);
    expect(sent(...lines)).toEqual(["u: One", "call c1", "call_output c1", "call c2", "call_output c2", "a: Two"]);
  });

  it("keep the arguments as the model wrote them, in an export to Codex", () => {
    const wrote = (text: string) =>
      exported(
        prompt("One"),
        item({ type: "function_call", name: "f", arguments: text, call_id: "c1" }),
        output("c1"),
      )[1]?.["arguments"];
    for (const text of ['{ "cmd" : "ls" }', "no json", "", "7", "[1]"]) expect(wrote(text)).toBe(text);
  });
});

describe("a compaction without a list", () => {
  const only = (...lines: readonly Json[]) =>
    items(...lines).map((one) => one["content"]) as readonly { text: string }[][];

  it("keeps the user's texts, not the images, and says so when there is no summary", () => {
    const seen = item({
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "See" },
        { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      ],
    });
    expect(sent(seen, answer("Two"), compactedSummary(""))).toEqual(["u: See", "u: (no summary available)"]);
  });

  it("keeps 20,000 tokens of the newest words, and the ends of what is too long", () => {
    const [cut, whole] = only(
      prompt("the oldest"),
      prompt("é".repeat(50_000)),
      prompt("q".repeat(101)),
      compactedSummary("S"),
    );
    const half = 79_896 / 2 / 2;
    const removed = Math.ceil((100_000 - 79_896) / 4);
    expect(cut?.map(({ text }) => text.length)).toEqual([half, `…${removed} tokens truncated…`.length, half]);
    expect(cut?.[1]?.text).toBe(`…${removed} tokens truncated…`);
    expect(whole?.[0]?.text).toBe("q".repeat(101));
  });
});

describe("going back by one request", () => {
  it.each(["turn_aborted", "user_shell_command", "subagent_notification", "skill"])(
    "takes the report before it along: %s",
    (tag) => {
      const lines = [prompt("One"), answer("Two"), harness(tag), prompt("Three"), answer("Four"), wentBack(1)];
      expect(sent(...lines, prompt("Five"))).toEqual(["u: One", "a: Two", "u: Five"]);
    },
  );

  it("leaves other words of the agent, and counts what another agent said as a request", () => {
    const lines = [prompt("One"), answer("Two"), harness("hook_prompt"), prompt("Three"), wentBack(1), prompt("Five")];
    expect(sent(...lines)).toEqual(["u: One", "a: Two", "u: <hook_prompt>\nx\n</hook_prompt>", "u: Five"]);
    const heard = item({
      type: "agent_message",
      author: "/root",
      recipient: "/root/bob",
      content: [{ type: "input_text", text: "The tide is out." }],
    });
    expect(sent(prompt("One"), heard, answer("Two"), wentBack(1), prompt("Five"))).toEqual(["u: One", "u: Five"]);
  });
});

describe("an export to Codex", () => {
  it("names what Codex could not read, so that it does not skip the words next to it", () => {
    const session = viewOf([prompt("One")]);
    const event = {
      ...session.turns[0]!.events.at(-1)!,
      content: [
        { type: "text", text: "Read it" },
        { type: "document", title: "tides.pdf", media_type: "application/pdf", data: "AAAA" },
      ],
    };
    const view = { turns: [{ ...session.turns[0]!, events: [event] }] } as typeof session;
    const text = writeCodexSession({
      view,
      sessionId: "6f1a2b3c-0000-4000-8000-00000000abcd",
      origin: { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) },
      cwd: "/tmp/kelp",
      title: "Kelp beds",
      sha1: (bytes) => createHash("sha1").update(bytes).digest(),
      sha256: (one) => one,
    });
    expect(text).toContain(
      '[{"type":"input_text","text":"Read it"},{"type":"input_text","text":"[document: tides.pdf]"}]',
    );
  });
});
