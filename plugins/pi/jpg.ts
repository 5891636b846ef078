// Written by `jpg hooks install pi`: jpg inside pi. `jpg hooks uninstall pi` removes it.
const JPG = ["jpg", "live"];

// All that jpg decides comes from `jpg live` (docs/live.md). Here: when it is asked, and how pi is given the answer. Nothing throws.
import { spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Longest wait for an answer, milliseconds: pi itself has no limit. */
const LONGEST = 120_000;
/** What pi keeps free before it compacts by itself, if its settings do not say. Tokens. */
const RESERVE = 16_384;
/** A line of the band that holds longer than a day is not waited for. Milliseconds. */
const LONGEST_BAND = 86_400_000;

type Json = Record<string, unknown>;

interface Status {
  context?: { share: number | null };
  band?: { until?: string; text: string }[];
  act?: boolean;
}

type Summary = { text: string; first_kept: string };

interface Answer extends Status {
  pass?: string;
  done?: string;
  text?: string;
  tokens?: { before: number };
  edits?: { handle: string; replacement: unknown }[];
  restart?: Summary;
  summary?: Summary;
  marker?: string;
  notice?: string;
  status?: Status;
}

interface Context {
  cwd: string;
  hasUI: boolean;
  model?: { id?: string; contextWindow?: number };
  ui: {
    notify(text: string, kind?: string): void;
    setStatus(key: string, text: string | undefined): void;
    setWidget(key: string, lines: string[] | undefined): void;
  };
  sessionManager: { getSessionFile(): string | undefined; getSessionId(): string; getLeafId?(): string | null };
  getContextUsage?(): { tokens: number | null; contextWindow: number } | undefined;
  compact(options?: { customInstructions?: string; onError?: (error: Error) => void }): void;
}

interface Pi {
  on(name: string, handler: (event: Json, ctx: Context) => unknown): void;
  registerCommand(name: string, command: { description: string; handler(words: string, ctx: Context): unknown }): void;
  registerTool(tool: Json): void;
  getSettings?(): { compaction?: { enabled?: boolean; reserveTokens?: number } };
}

type Wish = { do: "compact" | "undo"; instructions?: string; compaction?: string };

/** Runs `jpg live` once. Resolves to a reason to go on without it if anything fails. */
function ask(request: Json, ctx: Context, signal?: AbortSignal): Promise<Answer> {
  const transcript = ctx.sessionManager.getSessionFile();
  if (!transcript) return Promise.resolve({ pass: "pi keeps no file of this session." });
  const usage = ctx.getContextUsage?.();
  const session = ctx.sessionManager.getSessionId();
  const window = usage?.contextWindow ?? ctx.model?.contextWindow ?? null;
  const where = { jpg: 1, agent: "pi", session, transcript, cwd: ctx.cwd };
  return run(
    { ...where, model: ctx.model?.id ?? null, window, tokens: usage?.tokens ?? null, ...request },
    ctx,
    signal,
  );
}

function run(request: Json, ctx: Context, signal: AbortSignal | undefined): Promise<Answer> {
  return new Promise((resolve) => {
    const [program = "jpg", ...args] = JPG;
    // It outlives pi: what was said last is kept after pi has ended.
    const child = spawn(program, args, { cwd: ctx.cwd, stdio: ["pipe", "pipe", "ignore"], detached: true });
    let printed = "";
    const stop = (): void => void child.kill("SIGKILL");
    const timer = setTimeout(stop, LONGEST);
    signal?.addEventListener("abort", stop, { once: true });
    const end = (answer: Answer): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      resolve(answer);
    };
    child.on("error", (error) => end({ pass: `jpg does not start: ${error.message}.` }));
    child.on("close", () => end(parse(printed)));
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    child.stdin.end(`${JSON.stringify(request)}\n`);
  });
}

function parse(printed: string): Answer {
  try {
    const answer: unknown = JSON.parse(printed.split("\n")[0] ?? "");
    if (typeof answer === "object" && answer !== null) return answer;
  } catch {
    // It was killed, or is another program.
  }
  return { pass: "jpg gave no answer." };
}

/** The entries that pi appends: jpg's mark, then what it stands for. */
function entriesOf({ marker = "", restart, edits = [] }: Answer): Json[] {
  const compaction = restart && {
    type: "compaction",
    summary: restart.text,
    firstKeptEntryId: restart.first_kept,
    details: { jpg: marker },
  };
  return [
    { type: "custom", customType: "jpg", data: { mark: marker } },
    ...(compaction ? [compaction] : []),
    ...edits.map(({ handle, replacement }) => ({ type: "context_edit", targetId: handle, replacement })),
  ];
}

/** The compaction that pi installs; undefined = jpg gave none. */
function compactionOf({ marker, summary, tokens }: Answer, event: Json): Json | undefined {
  if (marker === undefined || summary === undefined) return undefined;
  const { tokensBefore = tokens?.before ?? 0 } = (event["preparation"] ?? {}) as { tokensBefore?: number };
  const { text, first_kept: firstKeptEntryId } = summary;
  return { compaction: { summary: text, firstKeptEntryId, tokensBefore, details: { jpg: marker } } };
}

/** The state of one pi. */
class Live {
  readonly pi: Pi;
  /** What the user asked for, until it is done. */
  wish: Wish | undefined;
  /** Newest entry that is kept, and the one at which jpg had nothing to gain. */
  kept: string | null | undefined;
  passed: string | null | undefined;
  isKeeping = false;
  /** The user's setting wants a compaction. */
  isDue = false;
  timer: ReturnType<typeof setTimeout> | undefined;

  constructor(pi: Pi) {
    this.pi = pi;
  }

  /** Draws the band, and draws it again when its line is past its time. */
  show(ctx: Context, status: Status | undefined): void {
    this.isDue = status?.act === true;
    if (status === undefined || !ctx.hasUI) return;
    const now = Date.now();
    const line = (status.band ?? []).find(({ until }) => until === undefined || Date.parse(until) > now);
    ctx.ui.setWidget("jpg", line && [line.text]);
    const share = status.context?.share ?? null;
    ctx.ui.setStatus("jpg", share === null ? undefined : `jpg ${Math.round(share * 100)} %`);
    clearTimeout(this.timer);
    const rest = line?.until === undefined ? 0 : Date.parse(line.until) - now;
    if (rest <= 0 || rest > LONGEST_BAND) return;
    this.timer = setTimeout(() => quietly(async () => this.show(ctx, status)), rest + 100);
    this.timer.unref();
  }

  /** Imports what is new, in the background, one at a time. */
  async keep(ctx: Context): Promise<void> {
    const newest = leafOf(ctx);
    if (this.isKeeping || (newest !== undefined && newest === this.kept)) return;
    this.isKeeping = true;
    try {
      const status = await ask({ do: "keep" }, ctx);
      if (status.done === undefined) return;
      this.kept = newest;
      this.show(ctx, status);
    } finally {
      this.isKeeping = false;
    }
  }

  /** Whether pi would compact by itself now, or the user's setting wants it. */
  isFull(ctx: Context): boolean {
    if (this.isDue) return true;
    const { tokens, contextWindow } = ctx.getContextUsage?.() ?? { tokens: null, contextWindow: 0 };
    const { enabled = true, reserveTokens = RESERVE } = this.pi.getSettings?.().compaction ?? {};
    return enabled && tokens !== null && contextWindow > 0 && tokens > contextWindow - reserveTokens;
  }

  /** At the end of a turn: what the user asked for, else what is due. Before pi itself looks whether it is full. */
  async atTurnEnd(event: Json, ctx: Context): Promise<unknown> {
    const { entries, toolResults, outcome } = event;
    if (!Array.isArray(entries) || outcome === "aborted") return undefined;
    const wanted = this.wish;
    if (wanted === undefined && (this.passed === leafOf(ctx) || !this.isFull(ctx))) return undefined;
    this.wish = undefined;
    const how = wanted === undefined ? { do: "compact", trigger: "auto" } : { trigger: "asked", ...wanted };
    const in_loop = Array.isArray(toolResults) && toolResults.length > 0;
    const answer = await ask({ ...how, form: "edits", in_loop }, ctx);
    if (answer.marker === undefined || answer.edits === undefined) {
      this.passed = leafOf(ctx);
      if (wanted !== undefined) say(ctx, answer.pass);
      return undefined;
    }
    this.tell(ctx, answer);
    return { entries: [...entries, ...entriesOf(answer)] };
  }

  /** pi compacts: its summary is jpg's, unless jpg frees nothing. */
  async beforeCompact(event: Json, ctx: Context): Promise<unknown> {
    const { reason = "manual", customInstructions: instructions } = event;
    const signal = event["signal"] instanceof AbortSignal ? event["signal"] : undefined;
    const wanted = this.wish;
    this.wish = undefined;
    const isAuto = wanted === undefined && reason !== "manual";
    if (isAuto && this.passed !== undefined && this.passed === leafOf(ctx)) return undefined;
    const how = wanted === undefined ? { do: "compact", instructions } : { ...wanted, trigger: "asked" };
    const answer = await ask({ trigger: isAuto ? "auto" : "manual", ...how, form: "summary" }, ctx, signal);
    const made = signal?.aborted === true ? undefined : compactionOf(answer, event);
    if (made !== undefined) this.tell(ctx, answer);
    else if (!isAuto) say(ctx, answer.pass);
    return made ?? (wanted === undefined ? undefined : { cancel: true });
  }

  tell(ctx: Context, answer: Answer): void {
    say(ctx, answer.notice);
    this.show(ctx, answer.status);
  }

  wishFor(wanted: Wish, ctx: Context): void {
    this.wish = wanted;
    // pi before 1.0 takes no edits, but compacts at once.
    if (typeof this.pi.getSettings !== "function") ctx.compact({ onError: () => undefined });
    else if (wanted.do === "undo") say(ctx, "jpg undoes it at the end of the next turn.");
    else say(ctx, "jpg compacts at the end of the next turn.");
  }
}

function leafOf(ctx: Context): string | null | undefined {
  return ctx.sessionManager.getLeafId?.();
}

function say(ctx: Context, text: string | undefined): void {
  if (text && ctx.hasUI) ctx.ui.notify(text, "info");
}

async function look(what: "log" | "diff", ctx: Context): Promise<void> {
  const { text, pass } = await ask({ do: what }, ctx);
  say(ctx, text ?? pass);
}

/** A tool that looks into what the model is not shown; its parameter is a text. */
function toolOf(name: string, description: string, [key, means]: readonly [string, string], action: string): Json {
  const parameters = { type: "object", properties: { [key]: { type: "string", description: means } }, required: [key] };
  const execute = async (_id: string, given: Json, signal: AbortSignal | undefined, _update: unknown, ctx: Context) => {
    const { text, pass } = await ask({ do: action, [key]: String(given[key]) }, ctx, signal);
    return { content: [{ type: "text", text: text ?? pass ?? "" }], details: {} };
  };
  return { name, label: name, description, parameters, execute };
}

async function quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

/**
 * Whether pi loads this code a second time: from a package, where hooks wrote a copy for the user or the project, or from the
 * project where the user has one. pi does not start with two tools of one name.
 */
function isLoadedElsewhere(): boolean {
  const user = process.env["PI_CODING_AGENT_DIR"] || join(homedir(), ".pi", "agent");
  const copies = [user, join(process.cwd(), ".pi")].map((folder) => join(folder, "extensions", "jpg.ts"));
  const own = copies.findIndex((path) => realPath(path) === realPath(fileURLToPath(import.meta.url)));
  return copies.slice(0, own < 0 ? copies.length : own).some(hasTools);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Hooks alone write a file of that name, too: it has no tools. */
function hasTools(path: string): boolean {
  try {
    return readFileSync(path, "utf8").includes('"jpg_search"');
  } catch {
    return false;
  }
}

export default function start(pi: Pi): void {
  if (isLoadedElsewhere()) return;
  const live = new Live(pi);
  pi.on("turn_end", (event, ctx) => quietly(() => live.atTurnEnd(event, ctx)));
  pi.on("agent_before_settle", (event, ctx) => (live.wish ? quietly(() => live.atTurnEnd(event, ctx)) : undefined));
  pi.on("session_before_compact", (event, ctx) => quietly(() => live.beforeCompact(event, ctx)));
  for (const name of ["session_start", "session_compact", "agent_end", "session_shutdown"])
    pi.on(name, (_event, ctx) => void quietly(() => live.keep(ctx)));
  const find = "Finds what was said or done earlier in this session and is not shown any more, by words near it.";
  pi.registerTool(toolOf("jpg_search", find, ["query", "Words, or a part of them"], "find"));
  const get = "Gives an event whole that jpg_search found, or that a stub names.";
  pi.registerTool(toolOf("jpg_show", get, ["event", "Its id"], "show"));
  pi.registerCommand("jpg-compact", {
    description: "Compact with jpg, reversibly; name a profile, or what to focus on",
    handler: (words, ctx) => live.wishFor({ do: "compact", instructions: words.trim() }, ctx),
  });
  pi.registerCommand("jpg-undo", {
    description: "Undo the newest compaction, or the one that is named",
    handler: (words, ctx) => live.wishFor({ do: "undo", compaction: words.trim() || undefined }, ctx),
  });
  pi.registerCommand("jpg-diff", {
    description: "Show what the newest compaction changed for the model",
    handler: (_words, ctx) => quietly(() => look("diff", ctx)),
  });
  pi.registerCommand("jpg-log", {
    description: "Show the compactions of this session",
    handler: (_words, ctx) => quietly(() => look("log", ctx)),
  });
}
