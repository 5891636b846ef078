// The laws of format plug-ins (docs/formats/plug-ins.md), run against one: on a session of its agent, or on one that it writes from a
// conversation made up here. Imports happen in a store of its own that is removed afterwards.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Event, traitsOf, type View } from "../../core/conversation/event.ts";
import { formatCount } from "../../core/conversation/token-estimate.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { canonicalJson } from "../../core/json.ts";
import { type PluginReading, pluginWriter } from "../../formats/format-plugin.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import { type Runtime, sha1Bytes, sha256 } from "../conversation/runtime.ts";
import { openWorkspace } from "../conversation/workspace.ts";
import { exportByPlugin } from "../import/export.ts";
import { importSessions } from "../import/import.ts";
import { resolveTree } from "../names/resolve-id.ts";
import { type FormatPlugin, readByPlugin, requirePluginTrust, writeByPlugin } from "../sessions/format-plugins.ts";

/** The result of one law. */
export interface LawResult {
  readonly law: "reads" | "same" | "grows" | "writes" | "returns" | "imports" | "refuses";
  /** Null = it could not be checked. */
  readonly ok: boolean | null;
  /** What was seen, a sentence. */
  readonly detail: string;
}

export interface PluginCheck {
  /** Whether no law is broken. */
  readonly ok: boolean;
  readonly format: string;
  /** The program, absolute. */
  readonly program: string;
  /** The session, absolute; null = it was made up. */
  readonly file: string | null;
  readonly laws: readonly LawResult[];
}

/** What the laws are run on. */
interface Bench {
  readonly runtime: Runtime;
  readonly plugin: FormatPlugin;
  /** The session's file. */
  readonly file: string;
  /** An empty folder. */
  readonly folder: string;
}

/**
 * Checks a plug-in on a session; `file` null = on one that it writes itself. Throws `untrusted_format`, and `plugin_failed` if it
 * must write one and cannot.
 */
export async function checkPlugin(runtime: Runtime, plugin: FormatPlugin, file: string | null): Promise<PluginCheck> {
  await requirePluginTrust(runtime, plugin);
  const folder = await mkdtemp(join(runtime.env["TMPDIR"] ?? tmpdir(), "jpg-plugin-"));
  try {
    const made = file ?? (await writeMade(runtime, plugin, folder));
    const [reads, ...others] = await runLaws({ runtime, plugin, file: made, folder });
    const given = MADE.turns.flatMap(({ events }) => events).length;
    const laws = [
      { ...reads, detail: file === null ? `${reads.detail} It was given ${given} events to write.` : reads.detail },
      ...others,
    ];
    return {
      ok: laws.every(({ ok }) => ok !== false),
      format: plugin.name,
      program: plugin.path,
      file,
      laws,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runLaws(bench: Bench): Promise<readonly [LawResult, ...LawResult[]]> {
  const { runtime, plugin, file } = bench;
  const first = await attempt("reads", async () => {
    const reading = await readByPlugin(runtime, plugin, { path: file });
    if (reading.session.turnCount === 0) throw broken("The session has no turn.");
    return reading;
  });
  if ("law" in first) return [first];
  const { session } = first;
  const events = eventsOf(session);
  const skipped = session.skippedLines.length;
  const read = `${formatCount(session.turnCount, "turn")}, ${formatCount(events.length, "event")}, ${formatCount(skipped, "line")} skipped.`;
  return [
    { law: "reads", ok: true, detail: read },
    await judge("same", () => readsTheSame(bench, first)),
    await judge("grows", () => grows(bench, events)),
    await judge("writes", () => writesTheSame(bench, session)),
    await judge("returns", () => returns(bench, session)),
    await judge("imports", () => imports(bench)),
    await judge("refuses", () => refuses(bench)),
  ];
}

type Verdict = Pick<LawResult, "ok" | "detail">;

/** A law that is broken, as an error. */
function broken(detail: string): JpgError {
  return userError("law_broken", detail);
}

async function judge(law: LawResult["law"], check: () => Promise<Verdict>): Promise<LawResult> {
  const result = await attempt(law, check);
  return "law" in result ? result : { law, ...result };
}

/** Runs a part of a check; an error of the plug-in is a law that is broken. */
async function attempt<Value extends object>(
  law: LawResult["law"],
  check: () => Promise<Value>,
): Promise<Value | LawResult> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind !== "user") throw error;
    return { law, ok: false, detail: error.message };
  }
}

function eventsOf(session: ImportedSession): readonly Event[] {
  const turns = Array.from({ length: session.turnCount }, (_, turn) => session.readTurn(turn));
  return turns.flat().filter(({ type }) => type !== "turn_start");
}

async function readsTheSame({ runtime, plugin, file, folder }: Bench, first: PluginReading): Promise<Verdict> {
  const elsewhere = join(folder, "elsewhere");
  await mkdir(elsewhere);
  const copy = join(elsewhere, basename(file));
  await copyFile(file, copy);
  const texts = [describeReading(first)];
  for (const path of [file, copy]) texts.push(describeReading(await readByPlugin(runtime, plugin, { path })));
  if (texts[1] !== texts[0]) throw broken("Read twice, the same file gives other lines.");
  if (texts[2] !== texts[0]) throw broken("A copy in another folder gives other lines.");
  return { ok: true, detail: "Read again, and as a copy in another folder, it gives the same lines." };
}

function describeReading({ session, agent }: PluginReading): string {
  const { sessionId, title, createdAt, cwd, origin, skippedLines } = session;
  return canonicalJson({ agent, sessionId, title, createdAt, cwd, origin, skippedLines, events: eventsOf(session) });
}

/** Beginnings of a file that are tried. */
const CUTS = 6;
const NEWLINE = 10;

async function grows({ runtime, plugin, file, folder }: Bench, whole: readonly Event[]): Promise<Verdict> {
  const bytes = await readFile(file);
  const ends = [...bytes.keys()].filter((at) => bytes[at] === NEWLINE && at < bytes.length - 1).map((at) => at + 1);
  const chosen = new Set(
    Array.from({ length: CUTS }, (_, n) => ends[Math.floor((ends.length * (n + 1)) / (CUTS + 1))]),
  );
  let checked = 0;
  for (const end of chosen) {
    const beginning = await readAs({ runtime, plugin, folder }, bytes.subarray(0, end ?? 0), basename(file));
    if (beginning === null) continue;
    checked++;
    const at = eventsOf(beginning.session).findIndex((event, n) => canonicalJson(event) !== canonicalJson(whole[n]));
    const kept = eventsOf(beginning.session)[at];
    if (kept !== undefined)
      throw broken(
        `In the first ${end} bytes there is an event ${kept.id} at place ${at}, which the whole file does not have there.`,
      );
  }
  if (checked === 0) return { ok: null, detail: "No beginning of the file is a session by itself." };
  return { ok: true, detail: `The whole file adds only events to ${formatCount(checked, "beginning")} of it.` };
}

/** Has a file with these bytes read; null if the plug-in refuses it or finds no turn. Throws `bad_plugin_output`. */
async function readAs(
  { runtime, plugin, folder }: Pick<Bench, "runtime" | "plugin" | "folder">,
  bytes: Uint8Array,
  name: string,
): Promise<PluginReading | null> {
  const own = await mkdtemp(join(folder, "part-"));
  const path = join(own, name);
  await writeFile(path, bytes);
  try {
    const reading = await readByPlugin(runtime, plugin, { path });
    return reading.session.turnCount === 0 ? null : reading;
  } catch (error) {
    if (error instanceof JpgError && error.code === "plugin_failed" && /exit code/.test(error.message)) return null;
    throw error;
  }
}

async function writesTheSame({ runtime, plugin }: Bench, session: ImportedSession): Promise<Verdict> {
  const lines = linesOf(plugin, viewOf(session));
  const first = await writeByPlugin(runtime, plugin, lines).catch((error: unknown) => error);
  if (first instanceof JpgError && first.code === "plugin_failed") return { ok: null, detail: first.message };
  if (!(first instanceof Uint8Array)) throw first;
  const second = await writeByPlugin(runtime, plugin, lines);
  if (Buffer.compare(first, second) !== 0) throw broken("Written twice, the same lines give other bytes.");
  return { ok: true, detail: `Written twice, the session is the same ${first.length} bytes.` };
}

async function returns({ runtime, plugin, folder }: Bench, session: ImportedSession): Promise<Verdict> {
  const lines = linesOf(plugin, viewOf(session));
  const bytes = await writeByPlugin(runtime, plugin, lines).catch(() => null);
  if (bytes === null) return { ok: null, detail: "It writes no sessions." };
  const reading = await readAs({ runtime, plugin, folder }, bytes, "written");
  if (reading === null) throw broken("It does not read what it wrote.");
  const { sessionId, origin } = reading.session;
  if (sessionId !== SESSION) throw broken("What it wrote comes back with another session id.");
  if (origin === undefined) throw broken("What it wrote comes back without its origin.");
  const back = new Map(eventsOf(reading.session).map((event) => [event.id, event]));
  const sent = lines
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line) as Event);
  const visible = sent.filter((event) => traitsOf(event).providerVisible);
  const lost = visible.find((event) => wordsOf(back.get(event.id)) !== wordsOf(event));
  if (lost !== undefined)
    throw broken(
      `A ${lost.type} that it was given is ${back.has(lost.id) ? "not the same" : "missing"} when it reads what it wrote.`,
    );
  return {
    ok: true,
    detail: `All ${formatCount(visible.length, "event")} that a model sees come back with their ids and words.`,
  };
}

/** What an event says, without its time and what else is known of it. */
function wordsOf(event: Event | undefined): string {
  const { timestamp: _time, metadata: _known, ...words } = event ?? { timestamp: "", metadata: {} };
  return canonicalJson(words);
}

async function imports({ runtime, plugin, file, folder }: Bench): Promise<Verdict> {
  const workspace = await openWorkspace(runtime, { store: join(folder, "store"), create: true });
  try {
    const status = async (path: string): Promise<string | undefined> =>
      (await importSessions(workspace, { plugin, paths: [path], allBranches: false })).sessions[0]?.status;
    const seen = [await status(file), await status(file)];
    if (seen.join() !== "created,unchanged") throw broken(`Imported twice, the session is ${seen.join(", then ")}.`);
    const written = join(folder, "exported");
    const tree = await resolveTree(workspace, undefined);
    const bytes = await exportByPlugin(workspace, tree, { fullHistory: false, plugin }).catch(() => null);
    if (bytes === null) return { ok: true, detail: "Imported twice, the session is created, then unchanged." };
    await writeFile(written, bytes);
    const again = await status(written);
    if (again !== "unchanged")
      throw broken(`Exported and imported again, the conversation is ${again}, not unchanged.`);
    return { ok: true, detail: "Created, then unchanged; exported and imported again it is the same conversation." };
  } finally {
    await workspace.close();
  }
}

/** What is no session of any agent. */
const STRANGE: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ["an empty file", new Uint8Array()],
  ["256 bytes of all kinds", Uint8Array.from({ length: 256 }, (_, at) => at)],
  ["JSON without a meaning", new TextEncoder().encode('{"a":[null,1,{}]}\n[]\nnull\n')],
];

async function refuses({ runtime, plugin, file, folder }: Bench): Promise<Verdict> {
  for (const [what, bytes] of STRANGE) {
    const reading = await readAs({ runtime, plugin, folder }, bytes, basename(file));
    if (reading !== null) throw broken(`It reads ${what} as a session.`);
  }
  const whole = await readFile(file);
  for (const share of [0.3, 0.7])
    await readAs({ runtime, plugin, folder }, whole.subarray(0, Math.floor(whole.length * share)), basename(file));
  return {
    ok: true,
    detail: "It refuses what is no session; a file that was cut off gives right lines, or is refused.",
  };
}

const SESSION = "00000000-0000-5000-8000-000000000001";
const TIME = "2026-05-04T09:00:00.000Z";

function viewOf(session: ImportedSession): View {
  const turns = Array.from({ length: session.turnCount }, (_, turn) => session.readTurn(turn));
  return { turns: turns.map((events, turn) => ({ origin: { kind: "kept", turn }, events })) };
}

/** The lines that the plug-in gets for a view, as an export makes them. */
function linesOf(plugin: FormatPlugin, view: View): string {
  return pluginWriter(plugin.name).write.write({
    view,
    sessionId: SESSION,
    origin: { conversation: "checked-0000", branch: "checked-0000/main", commit: "0".repeat(40) },
    cwd: "/project",
    title: "A session to check with",
    sha1: sha1Bytes,
    sha256,
  });
}

/** Has the plug-in write a session from what it may be given; returns its file. */
async function writeMade(runtime: Runtime, plugin: FormatPlugin, folder: string): Promise<string> {
  const path = join(folder, "made-up");
  await writeFile(path, await writeByPlugin(runtime, plugin, linesOf(plugin, MADE)));
  return path;
}

const MADE: View = {
  turns: [0, 1, 2].map((turn) => {
    const at = { id: `${turn}`, timestamp: TIME };
    return {
      origin: { kind: "kept", turn },
      events: [
        {
          ...at,
          type: "chat_request",
          id: `q${turn}`,
          content: `Question ${turn}: "quotes",\n\u00fcml\u00e4uts, \ud83d\ude42`,
        },
        { ...at, type: "chat_response", id: `r${turn}`, reasoning: "Look first." },
        {
          ...at,
          type: "tool_call_request",
          id: `c${turn}`,
          call_id: `call${turn}`,
          name: "Bash",
          arguments: { command: "ls" },
        },
        {
          ...at,
          type: "tool_call_response",
          id: `t${turn}`,
          call_id: `call${turn}`,
          content: "a.txt",
          is_error: false,
        },
        { ...at, type: "chat_response", id: `a${turn}`, message: `Answer ${turn}.` },
      ],
    };
  }),
};
