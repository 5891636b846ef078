// A Claude Code session that jpg compacts while it runs, played: it writes rows as the agent does, installs what `jpg live` answers, and
// remembers what the agent would send. Shares no code with the importer.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "./claude-session.ts";
import type { Sandbox } from "./run-jpg.ts";

export interface PlayedRow {
  readonly handle?: string;
  readonly role?: "user" | "assistant";
  readonly text?: string;
  readonly toolUses?: readonly { readonly tool_use_id: string; readonly tool: string; readonly input: unknown }[];
  readonly toolResults?: readonly { readonly tool_use_id: string; readonly text: string; readonly isError: boolean }[];
}

/** What `jpg live` answers, as far as tests read it. */
export interface PlayedAnswer {
  readonly id?: unknown;
  readonly done?: string;
  readonly pass?: string;
  readonly code?: string;
  readonly text?: string;
  readonly commit?: string;
  readonly compaction?: string;
  readonly branch?: string;
  readonly messages?: readonly PlayedRow[];
  readonly marker?: string;
  readonly notice?: string;
  readonly tokens?: { readonly before: number; readonly after: number };
  readonly context?: { readonly tokens: number; readonly window: number | null; readonly share: number | null };
  readonly last?: { readonly compaction: string; readonly by: string } | null;
  readonly cache?: { readonly state: string; readonly until: string | null; readonly seconds: number | null };
  readonly cost?: {
    readonly without: { readonly tokens: number; readonly usd: number | null };
    readonly with: { readonly tokens: number; readonly rewritten: number; readonly usd: number | null } | null;
  };
  readonly band?: readonly { readonly until?: string; readonly text: string }[];
  readonly offer?: boolean;
  readonly act?: boolean;
  readonly status?: PlayedAnswer;
}

/** A row of the agent's context: what it is sent as, a word a block. */
interface ContextRow {
  readonly uuid: string;
  readonly row: Json;
  readonly words: readonly string[];
}

export interface PlayedAgent {
  readonly session: string;
  readonly file: string;
  /** What the agent sends: `U:` `A:` texts, `T:` calls, `R:` results. */
  sent(): readonly string[];
  handles(): readonly string[];
  prompt(text: string): void;
  think(text: string): void;
  say(text: string): void;
  /** One call and its result. */
  tool(output: string): void;
  /** Asks `jpg live`, after the file is written. */
  ask(action: string, more?: Json): Promise<PlayedAnswer>;
  /** Installs an answer, as after `/compact`; `inLoop` = in the middle of a turn, which goes on. */
  install(answer: PlayedAnswer, how?: { readonly inLoop?: boolean }): void;
  /** Stores the marker, and then nothing: the user pressed Esc. */
  mark(answer: PlayedAnswer): void;
  /** Compacts by itself, with a summary. */
  compactItself(summary: string): void;
  save(): void;
}

/** Begins a session in the project of a sandbox; `number` makes its ids differ from those of another. */
export function playAgent(sandbox: Sandbox, number = 1): PlayedAgent {
  const session = `5e551073-0000-4000-8000-0000000000${String(number).padStart(2, "0")}`;
  const file = join(sandbox.root, `${session}.jsonl`);
  const lines: Json[] = [];
  let context: ContextRow[] = [];
  let head: string | null = null;
  let count = 0;
  let promptId = "";
  /** The mark of the newest compaction in this turn: the next boundary names it, whatever was said since. */
  let marked: string | null = null;
  /** When the newest answer was built: just before its boundary. */
  let built = "";
  const uuid = (): string => `${String(number).padStart(8, "0")}-0000-4000-8000-${String(++count).padStart(12, "0")}`;
  const time = (): string => new Date(Date.UTC(2026, 2, 1, 9) + count * 1000).toISOString();
  const add = (row: Json): Json => {
    const whole: Json = {
      parentUuid: head,
      isSidechain: false,
      ...row,
      uuid: row["uuid"] ?? uuid(),
      timestamp: row["timestamp"] ?? time(),
      userType: "external",
      cwd: sandbox.project,
      sessionId: session,
      version: "2.1.332",
      gitBranch: "main",
    };
    lines.push(whole);
    head = String(whole["uuid"]);
    return whole;
  };
  const show = (row: Json, words: readonly string[]): void => {
    context.push({ uuid: String(row["uuid"]), row, words });
  };
  const answer = (id: string, block: Json, words: readonly string[]): void => {
    const usage = { input_tokens: 12, output_tokens: 3 };
    const message = { id, type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [block], usage };
    show(add({ type: "assistant", message, madeBy: "model" }), words);
  };
  const user = (text: string, extra: Json): Json =>
    add({ type: "user", promptId, message: { role: "user", content: text }, ...extra });
  const echo = (): void => {
    for (const text of [
      "<local-command-caveat>The command below was run directly.</local-command-caveat>",
      "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>",
      "<local-command-stdout>Compacted</local-command-stdout>",
    ])
      show(user(text, text.includes("caveat") ? { isMeta: true, rowSource: "harness" } : { rowSource: "local" }), []);
  };
  const build = (row: PlayedRow): void => {
    const { text = "", toolUses = [], toolResults = [] } = row;
    if (row.role === "assistant") {
      const calls = toolUses.map(({ tool_use_id: id, tool: name, input }) => ({ type: "tool_use", id, name, input }));
      const content = [...(text === "" ? [] : [{ type: "text", text }]), ...calls];
      const message = { id: uuid(), type: "message", role: "assistant", model: "<synthetic>", content };
      const words = [...(text === "" ? [] : [`A:${text}`]), ...toolUses.map((call) => `T:${call.tool_use_id}`)];
      show(add({ type: "assistant", message, timestamp: built, madeBy: "other", isApiErrorMessage: false }), words);
      return;
    }
    const results = toolResults.map((result) => ({
      type: "tool_result",
      tool_use_id: result.tool_use_id,
      content: result.text,
      ...(result.isError && { is_error: true }),
    }));
    const content = [...results, ...(text === "" ? [] : [{ type: "text", text }])];
    const words = [
      ...toolResults.map((result) => `R:${result.tool_use_id}:${result.text}`),
      ...(text === "" || isCommandText(text) ? [] : [`U:${text}`]),
    ];
    show(
      add({ type: "user", promptId, timestamp: built, rowSource: "hook", message: { role: "user", content } }),
      words,
    );
  };
  const boundary = (metadata: Json): void => {
    const logicalParentUuid = marked ?? head;
    built = time();
    head = null;
    add({
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      level: "info",
      logicalParentUuid,
      compactMetadata: { trigger: "manual", preTokens: 1000, ...metadata },
    });
  };
  const agent: PlayedAgent = {
    session,
    file,
    sent: () => context.flatMap(({ words }) => words),
    handles: () => context.filter((one) => !isHidden(one)).map((one) => one.uuid),
    prompt(text) {
      promptId = uuid();
      marked = null;
      show(user(text, { promptSource: "typed" }), [`U:${text}`]);
    },
    think(text) {
      answer(`msg_${count}`, { type: "thinking", thinking: text, signature: "c2ln" }, []);
    },
    say(text) {
      answer(`msg_${count}`, { type: "text", text }, [`A:${text}`]);
    },
    tool(output) {
      const id = `toolu_${number}_${count}`;
      answer(`msg_${count}`, { type: "tool_use", id, name: "Bash", input: { command: `echo ${count}` } }, [`T:${id}`]);
      const content = [{ type: "tool_result", tool_use_id: id, content: output }];
      const row = add({
        type: "user",
        promptId,
        message: { role: "user", content },
        toolUseResult: { stdout: output },
      });
      show(row, [`R:${id}:${output}`]);
    },
    save() {
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    },
    async ask(action, more = {}) {
      agent.save();
      const request = { jpg: 1, do: action, agent: "claude-code", session, transcript: file, cwd: sandbox.project };
      const input = `${JSON.stringify({ ...request, window: 200_000, handles: agent.handles(), ...more })}\n`;
      return JSON.parse((await sandbox.jpg(["live"], { input })).stdout) as PlayedAnswer;
    },
    mark({ marker }) {
      add({ type: "system", subtype: "informational", content: marker, isMeta: false, level: "info" });
    },
    install(given, { inLoop = false } = {}) {
      const { messages = [] } = given;
      const parent = head;
      agent.mark(given);
      const mark = head;
      head = parent;
      boundary({ postTokens: 100, trigger: inLoop ? "auto" : "manual" });
      if (inLoop) marked = mark;
      const before = context;
      const copy = ({ row, words }: ContextRow): void =>
        show(add({ ...row, uuid: uuid(), parentUuid: head, rowSource: "local" }), words);
      context = [];
      for (const message of messages) {
        const at = before.findIndex((one) => one.uuid === message.handle);
        if (at < 0) build(message);
        else for (const one of [before[at] as ContextRow, ...hiddenAfter(before, at)]) copy(one);
      }
      if (!inLoop) echo();
    },
    compactItself(summary) {
      boundary({});
      context = [];
      const message = { role: "user", content: summary };
      const extra = { isCompactSummary: true, isVisibleInTranscriptOnly: true, message };
      show(add({ type: "user", ...extra }), [`U:${summary}`]);
    },
  };
  return agent;
}

/** A session whose older turns have a large output each. */
export function talkOn(agent: PlayedAgent, from: number, to: number): void {
  for (let turn = from; turn < to; turn++) {
    agent.prompt(`Request ${turn} about the harbour wall`);
    agent.think(`thought ${turn}`);
    agent.tool(`gauge ${turn}\n${"the tide is measured at the pier\n".repeat(40)}`);
    agent.say(`Answer ${turn}.`);
  }
}

/** What jpg's view sends, in the words of the played agent. */
export async function viewedWords(sandbox: Sandbox): Promise<readonly string[]> {
  const { stdout } = await sandbox.jpg(["export", "--to", "jsonl"]);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .flatMap((event): string[] => {
      const { type, metadata, content, message } = event;
      if (type === "chat_request")
        return (metadata as { origin?: string } | undefined)?.origin === "harness" || isCommandText(String(content))
          ? []
          : [`U:${content}`];
      if (type === "chat_response") return typeof message === "string" && message !== "" ? [`A:${message}`] : [];
      if (type === "tool_call_request") return [`T:${event["call_id"]}`];
      return type === "tool_call_response" ? [`R:${event["call_id"]}:${content}`] : [];
    });
}

/** Whether a text is what the agent says of a command of its own: sent, and said by nobody. */
function isCommandText(text: string): boolean {
  return /^<(?:local-)?command/.test(text);
}

/** Whether the agent shows a row to no plug-in, and copies it by itself with the row before it. */
function isHidden({ row }: ContextRow): boolean {
  return row["isMeta"] === true;
}

function hiddenAfter(context: readonly ContextRow[], at: number): readonly ContextRow[] {
  const rest = context.slice(at + 1);
  const end = rest.findIndex((one) => !isHidden(one));
  return end < 0 ? rest : rest.slice(0, end);
}
