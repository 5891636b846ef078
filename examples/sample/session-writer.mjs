// Writes the lines of a Claude Code session file (2.1.x shapes): nodes linked by parentUuid, one line per content block,
// side lines in between. Everything is derived from counters and a fixed clock, so the same story gives the same bytes.
import { createHash } from "node:crypto";

const SESSION_ID = "7d1f0c52-4b8e-4a63-9c27-51e0a4d9b3f6";
const MODEL = "claude-sonnet-4-5-20250929";
/** Tokens of system prompt and tool definitions that no line of the file shows. */
const BASE_TOKENS = 18_400;

const sha = (text) => createHash("sha256").update(text).digest("hex");

/** Gives an id that looks like the agent's and depends on nothing but its name. */
const uuidOf = (name) => {
  const hex = sha(name);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const providerId = (prefix, name) => `${prefix}_01${sha(name).slice(0, 22)}`;

/** A signature that nobody can take for a real one: base64 of a sentence. */
const fakeSignature = (count) =>
  Buffer.from(
    `made-up signature of thought ${count} of the tidepool sample; no provider ever issued it. `.repeat(2),
  ).toString("base64");

/** A session file that grows line by line. */
export class SessionWriter {
  #lines = [];
  #parent = null;
  #nodes = 0;
  #messages = 0;
  #thoughts = 0;
  #tokens = BASE_TOKENS;
  #cached = 0;
  #promptId = "";
  #clock;
  #root;
  #version;

  /** `root` is the fictional project folder, `start` an ISO instant, `version` the agent's. */
  constructor({ root, start, version }) {
    this.#root = root;
    this.#clock = Date.parse(start);
    this.#version = version;
  }

  /** Uuid of the node that the next one follows. */
  get here() {
    return this.#parent;
  }

  get now() {
    return new Date(this.#clock).toISOString();
  }

  toText() {
    return `${this.#lines.join("\n")}\n`;
  }

  /** Lets time pass, in seconds; less than a second more, so that the times look alive. */
  wait(seconds) {
    this.#clock +=
      Math.round(seconds * 1000) + (Number.parseInt(sha(`tick ${this.#lines.length}`).slice(0, 3), 16) % 900);
    return this.now;
  }

  /** Goes on in a newer version of the agent. */
  resumeAs(version) {
    this.#version = version;
  }

  /** A line that is not even JSON. */
  raw(text) {
    this.#lines.push(text);
  }

  /** Adds a DAG node after the current one (or after `parent`) and moves on to it. Returns its uuid. */
  node(fields, { seconds = 0.4, parent = this.#parent } = {}) {
    const uuid = uuidOf(`node ${this.#nodes++}`);
    this.#push({
      parentUuid: parent,
      isSidechain: false,
      userType: "external",
      entrypoint: "cli",
      cwd: this.#root,
      sessionId: SESSION_ID,
      version: this.#version,
      gitBranch: "main",
      ...fields,
      uuid,
      timestamp: this.wait(seconds),
    });
    this.#parent = uuid;
    return uuid;
  }

  /** A side line that is no node. */
  side(fields) {
    this.#push({ ...fields, sessionId: SESSION_ID });
  }

  attach(attachment, seconds = 0.1) {
    this.node({ type: "attachment", attachment }, { seconds });
  }

  system(subtype, fields) {
    this.node({ type: "system", subtype, ...fields, level: fields.level ?? "info", isMeta: false });
  }

  snapshot(messageId, paths) {
    const backup = (path, index) => ({
      backupFileName: `${sha(path).slice(0, 16)}@v${index + 1}`,
      version: index + 1,
      backupTime: this.now,
    });
    const trackedFileBackups = Object.fromEntries(paths.map((path, index) => [path, backup(path, index)]));
    this.#push({
      type: "file-history-snapshot",
      messageId,
      snapshot: { messageId, trackedFileBackups, timestamp: this.now },
      isSnapshotUpdate: paths.length > 0,
    });
  }

  /** What the user types: opens a turn. `content` is a text or Anthropic content blocks. */
  user(content, { after = 60, parent = this.#parent } = {}) {
    this.#promptId = uuidOf(`prompt ${this.#nodes}`);
    this.#weigh(JSON.stringify(content));
    const message = { role: "user", content };
    const uuid = this.node({ promptId: this.#promptId, type: "user", message }, { seconds: after, parent });
    this.snapshot(uuid, []);
  }

  /** One assistant message: thought, text, tool calls in parallel; then the results, each hanging off its own call. */
  assistant({ think, text, calls = [] }) {
    const id = providerId("msg", `message ${this.#messages}`);
    const requestId = providerId("req", `request ${this.#messages++}`);
    const blocks = [];
    if (think !== undefined)
      blocks.push({ type: "thinking", thinking: think, signature: fakeSignature(++this.#thoughts) });
    if (text !== undefined) blocks.push({ type: "text", text });
    const ids = calls.map((_, index) => providerId("toolu", `call ${this.#messages} ${index}`));
    for (const [index, call] of calls.entries())
      blocks.push({ type: "tool_use", id: ids[index], name: call.name, input: call.input });
    const usage = this.#usageOf(JSON.stringify(blocks));
    const fixed = { model: MODEL, id, type: "message", role: "assistant" };
    const end = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null, usage };
    const nodes = blocks.map((block) =>
      this.node({ message: { ...fixed, content: [block], ...end }, requestId, type: "assistant" }, { seconds: 2.5 }),
    );
    const callNodes = nodes.slice(blocks.length - calls.length);
    for (const [index, call] of calls.entries()) this.#result(call, ids[index], callNodes[index]);
  }

  /** The agent's own compaction: a boundary without parent, then the summary as a user line. */
  compact(summary) {
    const preTokens = this.#tokens;
    this.#tokens = BASE_TOKENS + Math.ceil(summary.length / 4);
    this.#cached = BASE_TOKENS;
    const compactMetadata = { trigger: "auto", preTokens, postTokens: this.#tokens };
    const boundary = {
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      isMeta: false,
      level: "info",
    };
    this.node({ logicalParentUuid: this.#parent, ...boundary, compactMetadata }, { parent: null, seconds: 31 });
    const message = { role: "user", content: summary };
    this.node({ type: "user", message, isVisibleInTranscriptOnly: true, isCompactSummary: true }, { seconds: 0 });
  }

  #result(call, id, parent) {
    this.#weigh(JSON.stringify(call.content));
    const block = {
      tool_use_id: id,
      type: "tool_result",
      content: call.content,
      ...(call.isError ? { is_error: true } : {}),
    };
    const message = { role: "user", content: [block] };
    this.node(
      { promptId: this.#promptId, type: "user", message, toolUseResult: call.detail, sourceToolAssistantUUID: parent },
      { seconds: call.seconds ?? 0.6, parent },
    );
  }

  #usageOf(answer) {
    const usage = {
      input_tokens: 4,
      cache_creation_input_tokens: Math.max(0, this.#tokens - this.#cached),
      cache_read_input_tokens: this.#cached,
      output_tokens: Math.ceil(answer.length / 4),
      service_tier: "standard",
    };
    this.#cached = this.#tokens;
    this.#weigh(answer);
    return usage;
  }

  #weigh(text) {
    this.#tokens += Math.ceil(text.length / 4);
  }

  #push(line) {
    this.raw(JSON.stringify(line));
  }
}
