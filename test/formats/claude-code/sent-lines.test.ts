// Which lines of a session a model is sent, and in what order: rules that the real agent was seen to follow. Each session is
// invented and shows one rule.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import { allTurns } from "../../helpers/claude-session.ts";

type Json = Readonly<Record<string, unknown>>;

const idOf = (line: number): string => `00000000-0000-4000-8000-${String(line).padStart(12, "0")}`;

/** Writes lines numbered from 1; each follows the one before it unless `after` names another. */
function write(lines: readonly (Json & { readonly after?: number })[]): string {
  return lines
    .map(({ after, ...line }, at) => {
      const parent = after ?? at;
      const timestamp = new Date(Date.UTC(2026, 4, 1, 9, 0, at)).toISOString();
      const parentUuid = parent === 0 ? null : idOf(parent);
      return JSON.stringify({
        parentUuid,
        isSidechain: false,
        sessionId: "kelp",
        ...line,
        uuid: idOf(at + 1),
        timestamp,
      });
    })
    .join("\n");
}

const say = (content: unknown, more: Json = {}): Json => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
const answer = (id: string, block: Json, model = "claude-opus-4-6"): Json => ({
  type: "assistant",
  message: { id, role: "assistant", model, content: [block] },
});
const text = (words: string): Json => ({ type: "text", text: words });
const call = (id: string): Json => ({ type: "tool_use", id, name: "Dive", input: { to: id } });
const result = (id: string, content: string): Json => say([{ type: "tool_result", tool_use_id: id, content }]);
const progress = { type: "progress", data: { type: "hook_progress" } };
const attach = (attachment: Json): Json => ({ type: "attachment", attachment });
const thinking = { type: "thinking", thinking: "Deep.", signature: "c2ln" };

function read(lines: readonly Json[]) {
  return readClaudeSession(createBufferSource(Buffer.from(write(lines))));
}

/** What a model is sent, a line a message: `u` the user, `a` the assistant; texts, `?call`, `!result`. */
function sent(lines: readonly Json[]): string[] {
  const session = read(lines);
  const { messages } = exportAnthropic(projectTurns(allTurns(session), session.compactions), {});
  return messages.map(({ role, content }) => {
    const blocks = typeof content === "string" ? [text(content)] : (content as readonly Json[]);
    return `${role[0]} ${blocks.map(show).join(" | ")}`;
  });
}

function show(block: Json): string {
  if (block["type"] === "tool_use") return `?${String(block["id"])}`;
  if (block["type"] === "tool_result") return `!${String(block["tool_use_id"])}=${String(block["content"])}`;
  return String(block["text"] ?? block["type"]);
}

describe("lines that are sent with a path that does not lead through them", () => {
  it("takes all calls of a message, whatever they follow, with their results", () => {
    const lines = [
      say("Survey the kelp."),
      answer("m1", call("c1")),
      progress,
      answer("m1", call("c2")),
      { ...result("c1", "tall"), after: 2 },
      { ...progress, after: 5 },
      { ...answer("m1", call("c3")), after: 6 },
      { ...result("c2", "low"), after: 4 },
      { ...result("c3", "none"), after: 7 },
      { ...answer("m2", text("Mixed.")), after: 9 },
    ];
    expect(sent(lines)).toEqual([
      "u Survey the kelp.",
      "a ?c1 | ?c2 | ?c3",
      "u !c1=tall | !c2=low | !c3=none",
      "a Mixed.",
    ]);
  });

  it("takes a part of a message from under another branch, and finds a result by its call", () => {
    const lines = [
      say("Survey the kelp."),
      answer("m1", call("c1")),
      result("c1", "tall"),
      { ...say("A request that was taken back."), after: 1 },
      answer("m1", call("c2")),
      { ...result("c2", "low"), after: 1 },
      { ...answer("m2", text("Mixed.")), after: 3 },
    ];
    expect(sent(lines)).toEqual(["u Survey the kelp.", "a ?c1 | ?c2", "u !c1=tall | !c2=low", "a Mixed."]);
  });

  it("puts a result behind its call where the file ends with the call", () => {
    const lines = [
      say("Survey the kelp."),
      { ...result("c1", "dense"), after: 3 },
      { ...answer("m1", call("c1")), after: 1 },
    ];
    expect(sent(lines)).toEqual(["u Survey the kelp.", "a ?c1", "u !c1=dense"]);
  });

  it("takes the first of several results, on the path or beside it", () => {
    const lines = [
      say("Dive."),
      answer("m1", call("c1")),
      result("c1", "first"),
      { ...result("c1", "second"), after: 2 },
      answer("m2", text("Up.")),
    ];
    expect(sent(lines)).toEqual(["u Dive.", "a ?c1", "u !c1=first", "a Up."]);
  });

  const hook = attach({ type: "hook_additional_context", hookName: "Stop", content: ["Mind the seals."] });

  it("takes what a hook said behind a result, but not where the conversation was left from there", () => {
    const dive = [say("Dive."), answer("m1", call("c1")), result("c1", "deep"), hook];
    const seals = "<system-reminder>\nStop hook additional context: Mind the seals.\n</system-reminder>";
    expect(sent([...dive, { ...answer("m2", text("Up.")), after: 3 }])[2]).toBe(`u !c1=deep | ${seals}`);
    const left = [...dive, answer("m3", text("Left.")), { ...answer("m2", text("Up.")), after: 3 }];
    expect(sent(left)[2]).toBe("u !c1=deep");
  });

  it("leaves alone what hangs behind an answer without calls", () => {
    expect(sent([say("Dive."), answer("m1", text("No.")), hook, { ...say("Why?"), after: 2 }])).toEqual([
      "u Dive.",
      "a No.",
      "u Why?",
    ]);
  });
});

describe("the order and the parts of an answer", () => {
  it("puts the words of a message before its calls", () => {
    const lines = [say("Dive."), answer("m1", call("c1")), answer("m1", text("I go.")), result("c1", "deep")];
    expect(sent([...lines, answer("m2", text("Up."))])).toEqual(["u Dive.", "a I go. | ?c1", "u !c1=deep", "a Up."]);
  });

  it("leaves out a message of nothing but thoughts and white space", () => {
    const lines = [say("Dive."), answer("m1", text("\n\n")), answer("m1", thinking), answer("m2", text("Up."))];
    expect(sent(lines)).toEqual(["u Dive.", "a Up."]);
  });

  it("leaves out a search of the provider's own that has no result in its message", () => {
    const search = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    const found = { type: "web_search_tool_result", tool_use_id: "s1", content: [] };
    const both = [say("Look."), answer("m1", search), answer("m1", found), answer("m1", text("Seen."))];
    expect(sent(both)[1]).toBe("a server_tool_use | web_search_tool_result | Seen.");
    expect(sent([say("Look."), answer("m1", search), answer("m1", text("Nothing."))])[1]).toBe("a Nothing.");
  });
});

describe("what the agent says in the user's place", () => {
  const notice = say("<task-notification>done</task-notification>", { origin: { kind: "task-notification" } });

  it("opens no turn at a notification and marks it as nobody's words", () => {
    const lines = [say("Dive."), answer("m1", text("Down.")), notice, answer("m2", text("Done.")), say("Good.")];
    const session = read(lines);
    expect(session.turnCount).toBe(2);
    expect(sent(lines)[2]).toMatch(/^u <system-reminder>\n\[SYSTEM NOTIFICATION - NOT USER INPUT\]\n/);
    expect(session.readTurn(0).at(-2)).toMatchObject({
      metadata: { origin: "harness", line_origin: { kind: "task-notification" } },
    });
  });

  it("takes the same text of an older version, which does not say whose it is, for the user's", () => {
    const lines = [say("Dive."), answer("m1", text("Down.")), { ...notice, origin: undefined }];
    expect(read(lines).turnCount).toBe(2);
  });

  it("reminds models before Opus 4.8 of their tasks, and no others", () => {
    const lines = (model: string) => [
      say("Dive."),
      answer("m1", call("c1"), model),
      result("c1", "deep"),
      attach({ type: "task_reminder", content: [{ id: "1", subject: "surface", status: "pending" }], itemCount: 1 }),
      answer("m2", text("Up."), model),
    ];
    expect(sent(lines("claude-opus-4-7"))[2]).toContain("#1 [pending] surface");
    for (const model of ["claude-opus-4-8", "claude-sonnet-5", "claude-other-9"])
      expect(sent(lines(model))[2]).toBe("u !c1=deep");
  });
});
