// Compares a program's messages with those that an agent sent, as README.md says. SPDX-License-Identifier: Apache-2.0

/** Texts of the user that an agent puts in by itself, by their beginning. */
const INJECTED =
  /^\s*(?:<(?:system-reminder|environment_context|user_instructions|INSTRUCTIONS|skills?_instructions|permissions instructions|collaboration_mode|apps_instructions|plugins_instructions|tools_instructions|model_switch|personality_spec|session_context)>|# AGENTS\.md instructions|This is the Gemini CLI\. We are setting up the context)/;

/** What an agent puts before the user's words in one text. */
const BEFORE_WORDS = /^\s*<current_datetime>[^<]*<\/current_datetime>\s*/;

/** The user's own words of a text; empty if all of it is the agent's. */
export function wordsOf(text) {
  return INJECTED.test(text) ? "" : text.replace(BEFORE_WORDS, "");
}

/** Says where a program's messages first differ from those that were sent; null = they are equal. */
export function firstDifference(received, sent, { thinking = false } = {}) {
  const [expected, own] = [normalise(sent, thinking), normalise(received, thinking)];
  for (let at = 0; at < Math.max(expected.length, own.length); at++) {
    const [one, other] = likewise(expected[at], own[at]).map(show);
    if (one === other) continue;
    const from = Array.from(one).findIndex((character, index) => character !== other[index]);
    return `block ${at}: expected ${cut(one, from)}, received ${cut(other, from)}`;
  }
  return null;
}

/** Brings messages into one form: a list of blocks with their role. */
export function normalise(messages, thinking = false) {
  const blocks = [];
  const calls = new Map();
  let count = 0;
  for (const { role, content } of messages.messages ?? messages) {
    if (role !== "user" && role !== "assistant") continue;
    for (const block of listOf(content)) {
      if (block.type.endsWith("thinking") && !thinking) continue;
      if (block.type === "tool_use") calls.set(block.id, ++count);
      const isSaid = role === "user" && block.type === "text";
      append(blocks, { role, ...(isSaid ? { ...block, text: wordsOf(block.text) } : withoutIds(block, calls)) });
    }
  }
  return blocks;
}

function listOf(content) {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

/** Adds a block; a text is trimmed and joined to a text before it. */
function append(blocks, { role, ...block }) {
  const last = blocks.at(-1);
  if (block.type !== "text") blocks.push({ role, ...block });
  else if (block.text.trim() !== "" && last?.type === "text" && last.role === role)
    last.text += `\n${block.text.trim()}`;
  else if (block.text.trim() !== "") blocks.push({ role, type: "text", text: block.text.trim() });
}

function withoutIds(block, calls) {
  if (block.type === "tool_use")
    return { type: "tool_use", call: calls.get(block.id), name: block.name, input: block.input };
  if (block.type !== "tool_result") return block;
  const parts = [];
  for (const part of listOf(block.content)) append(parts, part);
  const { is_error, made } = block;
  return { type: "tool_result", call: calls.get(block.tool_use_id), content: parts, is_error, made };
}

/** Leaves out what does not count: words of a made-up result, an error that was not sent as one. */
function likewise(expected, own) {
  if (expected?.type !== "tool_result" || own?.type !== "tool_result") return [expected, own];
  const { made, ...want } = expected;
  const have = { ...own, made: undefined };
  if (made) return [want, have].map((block) => ({ ...block, content: undefined, is_error: undefined }));
  return [want, want.is_error === undefined ? { ...have, is_error: undefined } : have];
}

function show(block) {
  if (block === undefined) return "no more";
  return JSON.stringify(block, (_, value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** The beginning of a long text, or what is around a place in it. */
function cut(text, place) {
  const from = text.length < 300 ? 0 : Math.max(0, place - 100);
  return `${from > 0 ? "…" : ""}${text.slice(from, from + 300)}${text.length > from + 300 ? "…" : ""}`;
}
