import { describe, expect, it } from "vitest";
import { gather } from "../../../src/core/compact/gather.ts";
import type { PlacedEvent } from "../../../src/core/compact/transcript.ts";
import type { Content, Event } from "../../../src/core/conversation/event.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";
import { NOTHING_GATHERED } from "../../helpers/nothing-gathered.ts";

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const ask = (content: Content): Event => ({ type: "chat_request", ...base, content });
const say = (message: Content): Event => ({ type: "chat_response", ...base, message });
const think = (reasoning: string): Event => ({ type: "chat_response", ...base, reasoning });
const place = (...turns: readonly (readonly Event[])[]): readonly PlacedEvent[] =>
  turns.flatMap((events, turn) => events.map((event) => ({ turn, event })));
const gatherCalls = (...calls: readonly CallSpec[]) => gather(place(...callTurns(calls).map(({ events }) => events)));

describe("gather", () => {
  it("tells requests, messages and the last message of each turn apart", () => {
    const found = gather(place([ask("one"), think("hm"), say("a"), say("b")], [ask("two")], [ask("three"), say("c")]));
    expect(found).toEqual({
      ...NOTHING_GATHERED,
      requests: [
        { turn: 0, text: "one" },
        { turn: 1, text: "two", after: "b" },
        { turn: 2, text: "three", after: "b" },
      ],
      messages: [
        { turn: 0, text: "a" },
        { turn: 0, text: "b" },
        { turn: 2, text: "c" },
      ],
      answers: [
        { turn: 0, text: "b" },
        { turn: 2, text: "c" },
      ],
    });
  });

  it.each<[string, Content, readonly string[]]>([
    ["texts on lines of their own", [text("one"), text("two")], ["one\ntwo"]],
    ["a text that was moved away by its name", { $attachment: "abc" }, ["[attachment abc]"]],
    ["attachments by their names", [attachment("a.txt"), attachment()], ["[attachment a.txt]\n[attachment]"]],
    ["media behind the text", [image("image"), text("see"), image("document")], ["see\n[image]\n[document]"]],
    ["media alone", [image("image")], ["[image]"]],
    ["no opaque part", [{ type: "opaque", value: "secret" }, text("see")], ["see"]],
    ["no blank text", " \n", []],
    ["no request without parts", [], []],
  ])("shows of a request %s", (_, content, texts) => {
    expect(gather(place([ask(content)])).requests.map((said) => said.text)).toEqual(texts);
  });

  it("tells files that were changed from those of which every change failed and those that were read", () => {
    const found = gatherCalls(
      call("Read", { file_path: "read.ts" }),
      call("Read", { file_path: "failed.ts" }),
      call("Read", { file_path: "edited.ts" }),
      failed("Edit", { file_path: "edited.ts" }),
      call("Edit", { file_path: "edited.ts" }),
      failed("Edit", { file_path: "failed.ts" }),
      failed("Edit", {}),
      failed("apply_patch", "*** Begin Patch\n*** Update File: a.py\n*** Update File: b.py\n*** End Patch"),
    );
    expect(found).toMatchObject({
      modified: ["edited.ts"],
      notModified: ["failed.ts", "a.py", "b.py"],
      read: ["read.ts"],
    });
  });

  it("counts tools, the most called first", () => {
    const found = gatherCalls(call("Grep", {}), call("Read", {}), call("Bash", {}), call("Read", {}), call("Bash", {}));
    expect(found.tools).toEqual(["Read 2x", "Bash 2x", "Grep 1x"]);
  });

  it("takes nothing that nobody typed for a request or an answer", () => {
    const exit = "<command-name>/exit</command-name><command-message>exit</command-message>";
    const found = gather(
      place([ask("<system-reminder>x</system-reminder>one"), say("1")], [ask(exit), say("No response requested.")]),
    );
    expect(found.requests.map((said) => said.text)).toEqual(["one"]);
    expect(found.answers.map((said) => said.text)).toEqual(["1"]);
  });

  it("gathers commands, commits, failures and how it ends", () => {
    const found = gatherCalls(
      call("Bash", { command: "cd /p && npm test 2>&1 | tail -3" }, "ok"),
      call("Bash", { command: "cat a.ts" }),
      failed("Bash", { command: "npm test" }),
      call("Bash", { command: "git commit -qm 'Add a'" }, ""),
    );
    expect(found).toMatchObject({
      commands: [{ command: "`npm test`", failed: true }],
      commits: [{ turn: 0, line: "Add a" }],
      failures: [{ what: "`npm test`", lines: ["no such file"], mend: null }],
      ending: { unfinished: null, actions: [] },
    });
  });
});

function text(words: string) {
  return { type: "text", text: words } as const;
}

function attachment(name?: string) {
  return name === undefined ? ({ type: "attachment" } as const) : ({ type: "attachment", name, text: "x" } as const);
}

function image(type: "image" | "document") {
  return { type, data: "AAAA" } as const;
}
