// Loads a branch's view. Reads compactions first, then only the turns that the projection needs.
import { type RecordedTool, toolsDelta } from "../../config/config.ts";
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { type Compaction, compareCompactions, isHiding, withoutIndex } from "../../core/conversation/compaction.ts";
import { formatRecordLine, recordPath } from "../../core/conversation/compaction-line.ts";
import { planHalves, planReading, planTurnReadings, type TurnReading } from "../../core/conversation/covered-range.ts";
import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { type Event, fieldsOf, type Turn, type View } from "../../core/conversation/event.ts";
import { type ProjectionOptions, project } from "../../core/conversation/projection.ts";
import { hasUnpairedCalls } from "../../core/conversation/tool-pairing.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../../core/json.ts";
import type { ConversationStore, FileChange } from "../../store/store.ts";
import { type CoverCheck, checkCovers, coverFacts, coversWhole } from "./covers.ts";
import { sha256 } from "./runtime.ts";
import { type BranchTree, collectBlobs, type DamagedRecord, decodeText, readCompactions } from "./tree.ts";
import { fetchMissingTurns, readFirstEvent, readTurnFiles, turnFiles } from "./turns.ts";

/** A live compaction that is not applied, and why. */
interface UnappliedCompaction {
  readonly compaction: Compaction;
  readonly reason: string;
}

/** The live compactions of a branch, oldest first. */
export interface LiveCompactions {
  readonly all: readonly Compaction[];
  /** Those in force; event bounds are dropped where the digest proves that whole turns are covered. */
  readonly applied: readonly Compaction[];
  readonly unapplied: readonly UnappliedCompaction[];
  readonly damaged: readonly DamagedRecord[];
}

export interface LoadedView {
  readonly view: View;
  readonly live: LiveCompactions;
}

/** A view with raw turns of its branch by position: at least those that it shows. */
export interface LoadedTurns extends LoadedView {
  readonly turns: ReadonlyMap<number, Turn>;
}

/** Turns that a command has read, by object id, so that turns of several views are read and held once. */
export type KnownTurns = Map<string, readonly Event[]>;

type LiveTree = Pick<BranchTree, "branch" | "commit" | "turnOids" | "compactions" | "assumed">;

/** Reads and checks the live compactions. Skips damaged records and names them in `damaged`. Throws `newer_record`. */
export async function loadCompactions(store: ConversationStore, tree: LiveTree): Promise<LiveCompactions> {
  return loadLive(store, tree, () => []);
}

/** `shown` = turns that are read next: a partial clone fetches them in the same request. */
async function loadLive(
  store: ConversationStore,
  tree: LiveTree,
  shown: (compactions: readonly Compaction[]) => readonly number[],
): Promise<LiveCompactions> {
  const { records, damaged } = await readCompactions(store, tree);
  const all = [...records.map(({ record }) => record), ...(tree.assumed ?? [])].sort(compareCompactions);
  if (store.partial !== null) {
    const likely = all.map((compaction) => (coversWhole(compaction, tree) ? withoutBounds(compaction) : compaction));
    await fetchMissingTurns(store, tree, [...likely.flatMap(cutTurns), ...shown(likely)]);
  }
  const checks = await checkAll(store, tree, all);
  const applied: Compaction[] = [];
  const unapplied: UnappliedCompaction[] = [];
  for (const [index, compaction] of all.entries()) {
    const { matches = false, whole = false } = checks[index] ?? {};
    // Mechanical policies are clamped to the turns that exist. A summary or replacement must not describe others.
    if (matches) applied.push(whole ? withoutBounds(compaction) : compaction);
    else if (!replacesTurns(compaction)) applied.push(withoutIndex(compaction));
    else
      unapplied.push({
        compaction,
        reason: `turns ${compaction.from_turn}..${compaction.to_turn} differ from those it was made for`,
      });
  }
  return { all, applied, unapplied, damaged };
}

/** Lists the end turns that a compaction cuts inside, which are read to check its digest. */
function cutTurns({ covers, from_turn, from_event, to_turn, to_event }: Compaction): readonly number[] {
  if (covers === undefined) return [];
  return [...(from_event === undefined ? [] : [from_turn]), ...(to_event === undefined ? [] : [to_turn])];
}

/** Checks the digests of compactions together, so that each end turn is read once. */
async function checkAll(
  store: ConversationStore,
  tree: Pick<BranchTree, "turnOids">,
  compactions: readonly Compaction[],
): Promise<CoverCheck[]> {
  const facts = coverFacts(store, tree);
  return await Promise.all(compactions.map((compaction) => checkCovers(compaction, facts)));
}

/** Reads the given turns (default all) by position; `known` as in `loadView`. */
export async function loadTurns(
  store: ConversationStore,
  tree: BranchTree,
  positions?: readonly number[],
  known?: KnownTurns,
): Promise<Map<number, Turn>> {
  const wanted = positions ?? tree.turnOids.map((_, index) => index);
  return readTurns(
    store,
    tree,
    wanted.map((turn) => ({ turn, firstEventOnly: false })),
    known,
  );
}

/**
 * Reads, whole, each turn that at least one of the views shows, and those at `positions`. Returns them by position, ascending;
 * `known` as in `loadView`.
 */
export async function loadShown(
  store: ConversationStore,
  tree: BranchTree,
  { positions, views, known = new Map() }: ShownTurns,
): Promise<Map<number, Turn>> {
  const turnCount = tree.turnOids.length;
  const read = (wanted: readonly number[]): Promise<Map<number, Turn>> =>
    loadTurns(
      store,
      tree,
      [...new Set(wanted)].sort((a, b) => a - b),
      known,
    );
  const turns = await read([...views.flatMap((compactions) => planReading(turnCount, compactions)), ...positions]);
  const more = views.flatMap((compactions) => planHalves(turnCount, compactions, turns));
  return more.every((turn) => turns.has(turn)) ? turns : read([...turns.keys(), ...more]);
}

interface ShownTurns {
  readonly positions: readonly number[];
  /** The compactions of each view. */
  readonly views: readonly (readonly Compaction[])[];
  readonly known?: KnownTurns;
}

async function readTurns(
  store: ConversationStore,
  tree: BranchTree,
  readings: readonly TurnReading[],
  known: KnownTurns = new Map(),
): Promise<Map<number, Turn>> {
  const oidOf = ({ turn }: TurnReading): string => tree.turnOids[turn] ?? "";
  const turns = new Map<number, Turn>();
  const unknown = readings.filter((reading) => !known.has(oidOf(reading)));
  await fetchMissingTurns(
    store,
    tree,
    unknown.map(({ turn }) => turn),
  );
  const [starts, wholes] = [unknown.filter(isStart), unknown.filter((reading) => !isStart(reading))];
  for (const reading of starts) {
    const index = reading.turn;
    turns.set(index, { index, events: await readFirstEvent(store, oidOf(reading), index) });
  }
  const files = turnFiles(
    tree,
    wholes.map(({ turn }) => turn),
  );
  for await (const { index, events } of readTurnFiles(store, tree.commit, files))
    known.set(tree.turnOids[index] ?? "", events);
  for (const reading of readings) {
    const events = known.get(oidOf(reading));
    if (events !== undefined) turns.set(reading.turn, { index: reading.turn, events });
  }
  return turns;
}

function isStart({ firstEventOnly }: TurnReading): boolean {
  return firstEventOnly;
}

interface ViewOptions extends ProjectionOptions {
  readonly known?: KnownTurns;
  /** The live compactions, if already read. */
  readonly live?: LiveCompactions;
}

/** Loads the view at the tree's commit. Turns in `known` are not read again; those read are added to it. */
export async function loadView(
  store: ConversationStore,
  tree: BranchTree,
  { known, live: loaded, ...options }: ViewOptions = {},
): Promise<LoadedView> {
  const turnCount = tree.turnOids.length;
  const live =
    loaded ?? (await loadLive(store, tree, (all) => planTurnReadings(turnCount, all).map(({ turn }) => turn)));
  const readings = planTurnReadings(turnCount, live.applied);
  const turns = await readTurns(store, tree, readings, known);
  const starts = new Set(readings.filter(isStart).map(({ turn }) => turn));
  const more = planHalves(turnCount, live.applied, turns).filter((turn) => starts.has(turn) || !turns.has(turn));
  for (const [position, turn] of await loadTurns(store, tree, more, known)) turns.set(position, turn);
  return { view: project({ turnCount, turns, compactions: live.applied }, options), live };
}

/**
 * Loads the view, and whole turns: those that it shows and those at `positions`. If a call in one of these may be answered in
 * another turn, reads every turn.
 */
export async function loadViewWithTurns(
  store: ConversationStore,
  tree: BranchTree,
  positions: readonly number[],
): Promise<LoadedTurns> {
  const live = await loadCompactions(store, tree);
  const turnCount = tree.turnOids.length;
  let turns = await loadShown(store, tree, { positions, views: [live.applied] });
  const hasUnpaired = positions.some((position) =>
    hasUnpairedCalls(turns.get(position) ?? { index: position, events: [] }),
  );
  if (hasUnpaired && turns.size < turnCount) turns = await loadTurns(store, tree);
  return { view: project({ turnCount, turns, compactions: live.applied }), live, turns };
}

/** Loads the full history as a view of unchanged turns, or the range `from` to `to` (positions, inclusive). */
export async function loadHistory(
  store: ConversationStore,
  tree: BranchTree,
  { from = 0, to = tree.turnOids.length - 1, known }: HistoryOptions = {},
): Promise<View> {
  const turns = tree.turnOids.map((_, turn) => turn).slice(from, to + 1);
  return historyView(await loadTurns(store, tree, turns, known));
}

interface HistoryOptions {
  readonly from?: number;
  readonly to?: number;
  readonly known?: KnownTurns;
}

function historyView(turns: ReadonlyMap<number, Turn>): View {
  return {
    turns: [...turns.values()].map((turn) => ({ origin: { kind: "kept", turn: turn.index }, events: turn.events })),
  };
}

function replacesTurns(compaction: Compaction): boolean {
  return isHiding(compaction) && compaction.turns === undefined;
}

function withoutBounds(compaction: Compaction): Compaction {
  const { from_event: _from, to_event: _to, ...rest } = compaction;
  return rest;
}

/** The fields of a record besides the tools. */
interface ToolRecordPlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** First turn that is offered the tools, 0-based. */
  readonly atTurn: number;
  /** Spaces before the keys of the record. */
  readonly padding: readonly number[];
}

/** Creates the files that record the tools. */
export function toolRecord(
  tools: readonly ToolDefinition[],
  { id, timestamp, atTurn, padding }: ToolRecordPlace,
): readonly FileChange[] {
  const files = tools.map(definitionFile);
  const delta = toolsDelta(files.map(({ name, attachment }) => ({ name, definition: attachment })));
  const line = formatRecordLine({ type: "config_delta", id, timestamp, at_turn: atTurn, delta }, padding);
  return [
    ...files.map(({ attachment, bytes }) => ({ path: attachmentPath(attachment), bytes })),
    { path: recordPath("config", timestamp, id), bytes: new TextEncoder().encode(`${line}\n`) },
  ];
}

/** Returns whether a record lists exactly these tools, in any order. */
export function isRecordOf(recorded: readonly RecordedTool[], tools: readonly ToolDefinition[]): boolean {
  const known = new Set(recorded.map(({ definition }) => definition));
  return recorded.length === tools.length && tools.every((tool) => known.has(definitionFile(tool).attachment));
}

/** Reads the definitions of recorded tools; skips missing and damaged ones. */
export async function readToolDefinitions(
  store: ConversationStore,
  { commit }: Pick<BranchTree, "commit">,
  recorded: readonly RecordedTool[],
): Promise<readonly ToolDefinition[]> {
  const paths = recorded.flatMap(({ definition }) => (definition === undefined ? [] : [attachmentPath(definition)]));
  if (paths.length === 0) return [];
  const found = await store.readEntries(commit, paths);
  const oids = paths.flatMap((path) => found.get(path) ?? []);
  const blobs = await collectBlobs(store, oids);
  return blobs.flatMap((bytes) => parseDefinition(decodeText(bytes)) ?? []);
}

/** Returns the newest turn at which the offered tools changed, 0-based; 0 when they never did. */
export async function toolsOfferedFrom(store: ConversationStore, { configs }: BranchTree): Promise<number> {
  if (configs.length < 2) return 0;
  const blobs = await collectBlobs(
    store,
    configs.map(({ oid }) => oid),
  );
  return Math.max(0, ...blobs.map((bytes) => offeredFrom(decodeText(bytes))));
}

function offeredFrom(line: string): number {
  try {
    const record: unknown = JSON.parse(line);
    const { delta, at_turn: turn } = fieldsOf(record);
    return Array.isArray(fieldsOf(delta)["tools"]) && typeof turn === "number" ? turn : 0;
  } catch {
    return 0; // `jpg fsck` reports damaged records
  }
}

function parseDefinition(text: string): ToolDefinition | null {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(text, value, MAX_RECORD_DEPTH) ? null : readToolDefinition(value);
  } catch {
    return null; // `jpg fsck` reports attachments that do not match their names
  }
}

function definitionFile({ name, description, parameters }: ToolDefinition): {
  readonly name: string;
  readonly attachment: string;
  readonly bytes: Uint8Array;
} {
  const bytes = new TextEncoder().encode(`${JSON.stringify({ name, description, parameters })}\n`);
  return { name, attachment: `${sha256(bytes)}.json`, bytes };
}

/**
 * Returns the typical tokens of system prompt and tools of the agent version named in the session's newest line; null = unknown.
 * Without `mayFetch`, a line that a partial clone lacks is not fetched.
 */
export async function typicalOverhead(
  store: ConversationStore,
  tree: BranchTree,
  { mayFetch }: { readonly mayFetch: boolean },
): Promise<number | null> {
  const { source } = tree.header;
  if (source === null) return null;
  // Imported only here: rarely needed, and the agents' formats are a lot of code.
  const { AGENTS } = await import("../../formats/agents.ts");
  const overhead = AGENTS.find(({ name }) => name === source.format)?.overhead;
  if (overhead === undefined) return null;
  const folder = `sources/${source.session}`;
  const files = await store.listTree(tree.commit, { under: [folder] });
  const newest = files.findLast(({ path }) => !path.startsWith(`${folder}/files/`));
  const isElsewhere = newest !== undefined && (store.partial?.missing([newest.oid]).length ?? 0) > 0;
  if (newest === undefined || (isElsewhere && !mayFetch)) return null;
  const [bytes] = await collectBlobs(store, [newest.oid]);
  const lines = new TextDecoder().decode(bytes).split("\n");
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const tokens = overhead(lines[at] ?? "");
    if (tokens !== null) return tokens;
  }
  return null;
}
