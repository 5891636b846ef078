// What Claude Code records of its requests, compared with jpg's view: equal, different in words, or unreadable; never a crash.
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runtime } from "../../../src/app/conversation/runtime.ts";
import { checkSentFile, type SentReport } from "../../../src/app/integrity/check-sent.ts";

type Json = Record<string, unknown>;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jpg-sent-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function check(lines: readonly (Json | string)[]): Promise<SentReport> {
  const path = join(folder, "session.jsonl");
  await writeFile(
    path,
    `${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`,
  );
  return checkSentFile({ cwd: folder } as Runtime, path);
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, inner]) => [key, sorted(inner)]),
        )
      : value;

const hashOf = (message: Json): string =>
  createHash("sha256")
    .update(JSON.stringify(sorted(message)))
    .digest("hex");

const text = (words: string): Json => ({ type: "text", text: words });
const user = (...content: readonly Json[]): Json => ({ role: "user", content });
const answer = (...content: readonly Json[]): Json => ({ role: "assistant", content });
const blob = (message: Json): Json => ({ type: "api-request-blob", hash: hashOf(message), message });

/** Lines of a conversation, each after the one before it. */
function createLines(): (type: "user" | "assistant", content: unknown, more?: Json) => Json {
  let last: string | null = null;
  let count = 0;
  return (type, content, more = {}) => {
    const uuid = `10000000-0000-4000-8000-${String(++count).padStart(12, "0")}`;
    const message = {
      role: type,
      content,
      ...(type === "assistant" ? { id: `msg_${count}`, model: "claude-sonnet-4-5" } : {}),
    };
    const line = {
      type,
      uuid,
      parentUuid: last,
      sessionId: "s",
      timestamp: `2026-03-01T09:00:0${count % 10}Z`,
      message,
      ...more,
    };
    last = uuid;
    return line;
  };
}

const request = (id: string, base: string | null, keep: unknown, tail: readonly unknown[]): Json => ({
  type: "api-request",
  id,
  ...(base === null ? {} : { base }),
  keep,
  tail,
  params: { model: "claude-sonnet-4-5" },
});

const REMINDER = text("<system-reminder>\nIt is Sunday.\n</system-reminder>");

/** Two turns with a call; each request as the agent records it. */
function twoTurns(): readonly Json[] {
  const line = createLines();
  const call = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls", a: 1 } };
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "boats", is_error: false };
  const sentResult = { ...result, content: "boats\n\n<system-reminder>\n9 tokens left\n</system-reminder>" };
  const [first, second, third] = [user(REMINDER, text("List the harbour.\n")), user(sentResult), user(text("Thanks."))];
  return [
    line("user", "List the harbour."),
    blob(first),
    request("r1", null, 0, [hashOf(first)]),
    line("assistant", [call]),
    line("user", [result]),
    blob(second),
    request("r2", "r1", 1, [hashOf(answer(call)), hashOf(second)]),
    line("assistant", [text("Two boats.")]),
    line("user", "Thanks."),
    request("r3", "r2", 3, [hashOf(answer(text("Two boats."))), hashOf(third)]),
    request("r4", "r3", 5, []),
  ];
}

describe("requests that a session records", () => {
  it("are put together from kept messages, blobs and the conversation's own lines, and are equal", async () => {
    expect(await check(twoTurns())).toMatchObject({ ok: true, requests: 4, equal: 4, differs: 0, unreadable: 0 });
  });

  it("are none in a session of an earlier version", async () => {
    const lines = twoTurns().filter(({ type }) => !String(type).startsWith("api-"));
    expect(await check(lines)).toMatchObject({ ok: true, requests: 0, compared: [] });
  });

  it("name a text that jpg has and that was not sent", async () => {
    const line = createLines();
    const [one, two] = [line("user", "Add salt."), line("user", "Add pepper.")];
    const sent = user(text("Add pepper."));
    const { compared, ok } = await check([one, two, blob(sent), request("r1", null, 0, [hashOf(sent)])]);
    expect(ok).toBe(false);
    expect(compared).toMatchObject([
      {
        request: 1,
        line: 4,
        result: "differs",
        message: 0,
        difference: "jpg has a text of the user (“Add salt.”), which was not sent there",
      },
    ]);
  });

  it("name what was sent and jpg lacks, and the place where two texts part", async () => {
    const line = createLines();
    const asked = line("user", "Add salt.");
    const [more, other] = [user(text("Add salt."), text("Now.")), user(text("Add sand."))];
    const lines = [asked, blob(more), blob(other), request("r1", null, 0, [hashOf(more)])];
    const { compared } = await check([...lines, request("r2", null, 0, [hashOf(other)])]);
    expect(compared.map(({ difference }) => difference)).toEqual([
      "a text of the user (“Now.”) was sent, which jpg does not have",
      "a text of the user differs at character 6: sent was “Add sand.”, jpg has “Add salt.”",
    ]);
  });

  it("compare what was typed while the agent worked without its wrapper", async () => {
    const line = createLines();
    const call = { type: "tool_use", id: "toolu_1", name: "Bash", input: {} };
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: "done" };
    const wrapped =
      "done\n\n<system-reminder>\nThe user sent a new message while you were working:\nAnd hurry.\n\nThis is how Claude Code surfaces it.\n</system-reminder>";
    const sent = [user(text("Go.")), answer(call), user({ ...result, content: wrapped })];
    const lines = [line("user", "Go."), line("assistant", [call]), line("user", [result])];
    const typed = {
      ...line("user", ""),
      type: "attachment",
      attachment: { type: "queued_command", prompt: "And hurry." },
    };
    const { message: _, ...queued } = typed as Json;
    const recorded = [...sent.map(blob), request("r1", null, 0, sent.map(hashOf))];
    expect(await check([...lines, queued, ...recorded])).toMatchObject({ equal: 1, differs: 0 });
  });

  it("are told apart from requests that cannot be put together", async () => {
    const lines = twoTurns().filter(({ type }) => type !== "api-request");
    const { compared, ok } = await check([
      ...lines,
      request("a", null, 0, ["0".repeat(64)]),
      request("b", "nobody", 1, []),
      request("c", "c", 1, []),
      request("d", "a", 7, []),
      request("e", null, 2, []),
      request("f", null, -1, []),
      request("g", null, 0.5, []),
    ]);
    expect(ok).toBe(true);
    expect(compared.map(({ result, difference }) => [result, difference])).toEqual([
      ["unreadable", "its message 0 is in no line of the file"],
      ["unreadable", "the request that it continues is not in the file"],
      ["unreadable", "the request that it continues is not in the file"],
      ["unreadable", "it keeps 7 messages of a request that has 1"],
      ["unreadable", "it keeps messages of no request"],
      ["unreadable", "it keeps messages of no request"],
      ["unreadable", "it keeps messages of no request"],
    ]);
  });

  it("survive any value in any place", async () => {
    const values = [null, 0, -1, 1e300, "x", "__proto__", [], {}, [null], { role: "user" }, [[["x"]]]];
    const keys = ["type", "hash", "message", "base", "keep", "tail", "id", "params", "uuid", "parentUuid"];
    const lines = twoTurns();
    for (const [at, line] of lines.entries()) {
      for (const key of keys.filter((name) => name in line)) {
        const changed = values.map((value) => ({ ...line, [key]: value }));
        const mixed = [...lines.slice(0, at), ...changed, '{"type":"api-request"', ...lines.slice(at)];
        expect((await check(mixed)).requests).toBeGreaterThan(2);
      }
    }
  });

  it("cost no more where every line is a request: the newest are compared", {
    tags: ["slow"],
    timeout: 300_000,
  }, async () => {
    const first = user(text("Go."));
    const many = Array.from({ length: 4_000 }, (_, at) =>
      at === 0 ? request("r0", null, 0, [hashOf(first)]) : request(`r${at}`, `r${at - 1}`, at, [hashOf(first)]),
    );
    const { requests, compared } = await check([createLines()("user", "Go."), blob(first), ...many]);
    expect(requests).toBe(4_000);
    expect(compared.length).toBeLessThan(500);
    expect(compared.at(-1)?.request).toBe(4_000);
  });
});
