// Requests as APIs take them: one per API, with what each knows, read as the same talk.
import { describe, expect, it } from "vitest";
import { detectFormat, formatByName } from "../../../src/app/sessions/session-registry.ts";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";

const SYSTEM = "Be brief.";
const LS = { name: "ls", description: "lists", parameters: { type: "object", properties: {} } };
const PNG = "iVBORw0KGgo=";

const ANTHROPIC = {
  model: "claude-sonnet-5",
  system: SYSTEM,
  tools: [{ name: LS.name, description: LS.description, input_schema: LS.parameters }],
  messages: [
    { role: "user", content: "What is here?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Look.", signature: "c2ln" },
        { type: "text", text: "Looking." },
        { type: "tool_use", id: "t1", name: "ls", input: { path: "." } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a b", is_error: true }] },
    { role: "assistant", content: "a and b" },
    {
      role: "user",
      content: [
        { type: "text", text: "And this?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      ],
    },
  ],
};

const CHAT = {
  model: "gpt-6",
  tools: [{ type: "function", function: LS }],
  messages: [
    { role: "system", content: SYSTEM },
    { role: "user", content: "What is here?" },
    {
      role: "assistant",
      content: "Looking.",
      reasoning_content: "Look.",
      tool_calls: [{ id: "t1", type: "function", function: { name: "ls", arguments: '{"path":"."}' } }],
    },
    { role: "tool", tool_call_id: "t1", content: "a b" },
    { role: "assistant", content: "a and b" },
    {
      role: "user",
      content: [
        { type: "text", text: "And this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
      ],
    },
  ],
};

const RESPONSES = {
  model: "gpt-6",
  instructions: SYSTEM,
  tools: [{ type: "function", ...LS, strict: false }],
  input: [
    { role: "user", content: "What is here?" },
    { type: "reasoning", summary: [{ type: "summary_text", text: "Look." }], encrypted_content: "ZW5j" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Looking." }] },
    { type: "function_call", call_id: "t1", name: "ls", arguments: '{"path":"."}' },
    { type: "function_call_output", call_id: "t1", output: "a b" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "a and b" }] },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "And this?" },
        { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
      ],
    },
  ],
};

const GOOGLE = {
  system_instruction: { parts: [{ text: SYSTEM }] },
  tools: [{ functionDeclarations: [{ name: "ls", description: "lists", parametersJsonSchema: LS.parameters }] }],
  contents: [
    { role: "user", parts: [{ text: "What is here?" }] },
    {
      role: "model",
      parts: [
        { text: "Look.", thought: true },
        { text: "Looking." },
        { functionCall: { name: "ls", args: { path: "." } }, thoughtSignature: "c2ln" },
      ],
    },
    { role: "user", parts: [{ functionResponse: { name: "ls", response: { error: "a b" } } }] },
    { role: "model", parts: [{ text: "a and b" }] },
    { role: "user", parts: [{ text: "And this?" }, { inlineData: { mimeType: "image/png", data: PNG } }] },
  ],
};

function open(body: unknown): ImportedSession {
  return openText(JSON.stringify(body, null, 2));
}

function openText(text: string): ImportedSession {
  const source = createBufferSource(Buffer.from(text));
  return detectFormat(source, "request.json").read(source);
}

/** What is said, by turn. */
function talk(session: ImportedSession): readonly unknown[] {
  return Array.from({ length: session.turnCount }, (_, turn) => session.readTurn(turn).map(say));
}

function say(event: Event): unknown {
  switch (event.type) {
    case "chat_request":
      return { [event.role ?? "user"]: event.content };
    case "chat_response":
      return event.reasoning === undefined ? { assistant: event.message } : { reasoning: event.reasoning };
    case "tool_call_request":
      return { call: event.name, id: event.call_id, arguments: event.arguments };
    case "tool_call_response":
      return { result: event.content, id: event.call_id, error: event.is_error };
    default:
      return event.type;
  }
}

const TALK = ({ id = "t1", error = false } = {}): readonly unknown[] => [
  [
    "turn_start",
    { system: SYSTEM },
    { user: "What is here?" },
    { reasoning: "Look." },
    { assistant: "Looking." },
    { call: "ls", id, arguments: { path: "." } },
    { result: "a b", id, error },
    { assistant: "a and b" },
  ],
  [
    "turn_start",
    {
      user: [
        { type: "text", text: "And this?" },
        { type: "image", media_type: "image/png", data: PNG },
      ],
    },
  ],
];

describe("a request as an API takes it", () => {
  it.each([
    ["anthropic", ANTHROPIC, TALK({ error: true })],
    ["openai-chat", CHAT, TALK()],
    ["openai-responses", RESPONSES, TALK()],
    ["google", GOOGLE, TALK({ id: "call-0", error: true })],
  ])("of %s is known by itself and read: prompt, turns, reasoning, calls, images, tools", (format, body, expected) => {
    const session = open(body);
    expect(session).toMatchObject({ format, title: "What is here?", turnCount: 2, skippedLines: [] });
    expect(talk(session)).toEqual(expected);
    expect(session.toolLists).toMatchObject([{ turn: 0, tools: [LS] }]);
  });

  it.each([
    ["anthropic", ANTHROPIC, { signature: "c2ln" }],
    ["openai-responses", RESPONSES, { encrypted: "ZW5j" }],
  ])("of %s keeps what only its provider reads of reasoning, and the model", (_, body, secret) => {
    const events = open(body).readTurn(0);
    const reasoning = events.find((event) => event.type === "chat_response" && event.reasoning !== undefined);
    expect(reasoning?.metadata).toMatchObject({ model: body.model, ...secret });
  });

  it("keeps the signature of a call that Google signed", () => {
    const call = open(GOOGLE)
      .readTurn(0)
      .find(({ type }) => type === "tool_call_request");
    expect(call?.metadata).toMatchObject({ provider: "google", signature: "c2ln" });
  });

  it("is the list alone, too", () => {
    for (const [list, format] of [
      [ANTHROPIC.messages, "anthropic"],
      [CHAT.messages, "openai-chat"],
      [RESPONSES.input, "openai-responses"],
      [GOOGLE.contents, "google"],
    ] as const)
      expect(open(list)).toMatchObject({ format, turnCount: 2 });
  });

  it("is of the API of its model where its messages are plain, or of the one that is named", () => {
    const messages = [{ role: "user", content: "hello" }];
    expect(open({ model: "claude-haiku-4-5", messages }).format).toBe("anthropic");
    expect(open({ model: "gpt-5", messages }).format).toBe("openai-chat");
    const source = createBufferSource(Buffer.from(JSON.stringify({ messages })));
    expect(formatByName("openai-chat").read(source).format).toBe("openai-chat");
  });

  it("has the same session when it is longer, and another when it begins otherwise", () => {
    const shorter = open({ ...CHAT, messages: CHAT.messages.slice(0, 3) });
    expect(open(CHAT).sessionId).toBe(shorter.sessionId);
    expect(open(CHAT).readTurn(0).slice(0, 5)).toEqual(shorter.readTurn(0).slice(0, 5));
    expect(open({ messages: [{ role: "user", content: "Else" }] }).sessionId).not.toBe(shorter.sessionId);
  });

  it("goes on in the same turn where the user speaks again before anybody answered", () => {
    const messages = ["one", "two"].map((content) => ({ role: "user", content }));
    expect(talk(open({ messages }))).toEqual([["turn_start", { user: "one" }, { user: "two" }]]);
  });

  it("pairs calls of one name without ids with their results in order", () => {
    const call = { functionCall: { name: "ls", args: {} } };
    const result = (output: string) => ({ functionResponse: { name: "ls", response: { output } } });
    const contents = [
      { role: "user", parts: [{ text: "both" }] },
      { role: "model", parts: [call, call] },
      { role: "user", parts: [result("first"), result("second")] },
    ];
    expect(talk(open({ contents }))[0]).toMatchObject([
      "turn_start",
      { user: "both" },
      { id: "call-0" },
      { id: "call-1" },
      { result: "first", id: "call-0" },
      { result: "second", id: "call-1" },
    ]);
  });

  it("carries items that only OpenAI understands, and calls with a free text", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } };
    const patch = { type: "custom_tool_call", call_id: "p1", name: "apply_patch", input: "*** Begin" };
    const output = { type: "custom_tool_call_output", call_id: "p1", output: "done" };
    const [, ...events] = open({ input: [{ role: "user", content: "go" }, search, patch, output] }).readTurn(0);
    expect(events).toMatchObject([
      { content: "go" },
      { message: [{ type: "opaque", provider: "openai", value: search }] },
      { name: "apply_patch", arguments: { input: "*** Begin" }, metadata: { call_type: "custom" } },
      { call_id: "p1", content: "done" },
    ]);
  });

  it("shows images to every model, however closely OpenAI's was to look at them", () => {
    const image = [{ type: "image", media_type: "image/png", data: "AAAA" }];
    const url = "data:image/png;base64,AAAA";
    const chat = { type: "image_url", image_url: { url, detail: "high" } };
    const item = { type: "input_image", image_url: url, detail: "auto" };
    expect(open({ messages: [{ role: "user", content: [chat] }] }).readTurn(0)[1]).toMatchObject({ content: image });
    expect(open({ input: [{ role: "user", content: [item] }] }).readTurn(0)[1]).toMatchObject({ content: image });
    const uploaded = { type: "input_image", file_id: "file-1" };
    expect(open({ input: [{ role: "user", content: [uploaded] }] }).readTurn(0)[1]).toMatchObject({
      content: [{ type: "opaque", value: uploaded }],
    });
  });

  it("keeps the free text of a call of Chat Completions", () => {
    const calls = [{ id: "c1", type: "custom", custom: { name: "apply_patch", input: "*** Begin" } }];
    const answer = { role: "assistant", content: null, tool_calls: calls };
    const [, , call] = open({ messages: [{ role: "user", content: "go" }, answer] }).readTurn(0);
    expect(call).toMatchObject({ call_id: "c1", name: "apply_patch", arguments: { input: "*** Begin" } });
  });

  it("keeps what Google's model was given with a result", () => {
    const inlineData = { mimeType: "image/png", data: "AAAA" };
    const image = { type: "image", media_type: "image/png", data: "AAAA" };
    const contents = (response: Readonly<Record<string, unknown>>) => [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "look", response, parts: [{ inlineData }] } }] },
    ];
    const result = (response: Readonly<Record<string, unknown>>) =>
      open({ contents: contents(response) }).readTurn(0)[3];
    expect(result({ output: "kelp" })).toMatchObject({ content: [{ type: "text", text: "kelp" }, image] });
    expect(result({ error: "" })).toMatchObject({ content: [image], is_error: true });
  });

  it("may be a log of requests, one a line, of which each goes on with the one before", () => {
    const lines = [2, 3, 6].map((length) => JSON.stringify({ ...CHAT, messages: CHAT.messages.slice(0, length) }));
    const session = openText(`${lines.join("\n")}\n{"messages":[{"role":`);
    expect(talk(session)).toEqual(TALK());
    expect(session.skippedLines).toEqual([{ line: 4, reason: "not JSON: cut off before its end" }]);
  });

  it("is refused by its line where a log holds another conversation", () => {
    const other = JSON.stringify({ messages: [{ role: "user", content: "another" }] });
    expect(() => openText(`${JSON.stringify(CHAT)}\n${other}\n`)).toThrow(
      expect.objectContaining({ code: "several_conversations", message: expect.stringContaining("line 2") }),
    );
  });

  it("names messages that hold nothing", () => {
    const messages = [...CHAT.messages, { role: "assistant", content: null }];
    expect(open({ messages }).skippedLines).toEqual([{ line: 7, reason: "a message without content" }]);
  });

  it.each([
    ["{}"],
    ["[]"],
    ["null"],
    ['{"messages":[]}'],
    ['{"messages":[{"role":"user"}],"x":1'],
    ['{"name":"package","version":"1.0.0"}'],
    ["[".repeat(100_000)],
    [`{"messages":[{"role":"user","content":${"[".repeat(600)}${"]".repeat(600)}}]}`],
  ])("is not %.40s", (text) => {
    expect(() => openText(text)).toThrow(expect.objectContaining({ code: "not_a_session" }));
  });

  it("says what was expected of a file whose format was named", () => {
    const source = createBufferSource(Buffer.from('{"contents":[]}'));
    expect(() => formatByName("google").read(source)).toThrow(
      "The file is not a request to the Google generateContent API: expected an object with `contents` that have `parts`.",
    );
  });
});
