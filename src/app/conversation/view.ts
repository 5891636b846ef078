// Loads a branch's view, reading only what it shows: compactions first, then the turns that a projection needs.
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

/** A live compaction that has no effect, and why. */
interface UnappliedCompaction {
  readonly compaction: Compaction;
  readonly reason: string;
}

/** The live compactions of a branch, oldest first. */
export interface LiveCompactions {
  readonly all: readonly Compaction[];
  /** Those that count, bounds made whole where the digest proves it. */
  readonly applied: readonly Compaction[];
  readonly unapplied: readonly UnappliedCompaction[];
  readonly damaged: readonly DamagedRecord[];
}

export interface LoadedView {
  readonly view: View;
  readonly live: LiveCompactions;
}

/** A view with turns of its branch, by position: at least those that it shows. */
export interface LoadedTurns extends LoadedView {
  readonly turns: ReadonlyMap<number, Turn>;
}

/** Turns that a command has read, by object id: what two of its views show is read once, and stands in memory once. */
export type KnownTurns = Map<string, readonly Event[]>;

type LiveTree = Pick<BranchTree, "branch" | "commit" | "turnOids" | "compactions" | "assumed">;

/** Reads and checks the live compactions. A damaged record counts as none, and is named in `damaged`. Throws `newer_record`. */
export async function loadCompactions(store: ConversationStore, tree: LiveTree): Promise<LiveCompactions> {
  return loadLive(store, tree, () => []);
}

/** `shown` = turns that are read next: in a partial clone they come with those that are read here. */
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
    // Mechanical policies clamp; only what stands *for* turns must not tell of turns that are not here.
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

/** The end turns that a compaction cuts inside: they are read to check what it covers. */
function cutTurns({ covers, from_turn, from_event, to_turn, to_event }: Compaction): readonly number[] {
  if (covers === undefined) return [];
  return [...(from_event === undefined ? [] : [from_turn]), ...(to_event === undefined ? [] : [to_turn])];
}

/** Checks what compactions cover, all at once: each end turn is read once. */
async function checkAll(
  store: ConversationStore,
  tree: Pick<BranchTree, "turnOids">,
  compactions: readonly Compaction[],
): Promise<CoverCheck[]> {
  const facts = coverFacts(store, tree);
  return await Promise.all(compactions.map((compaction) => checkCovers(compaction, facts)));
}

/** Reads the given turns (all when left out), by position; `known` as in `loadView`. */
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
 * Reads the turns that the views by some lists of compactions show, and those of `positions`, by position, ascending; all of
 * them whole. `known` as in `loadView`.
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

/** What a view is loaded with. */
interface ViewOptions extends ProjectionOptions {
  readonly known?: KnownTurns;
  /** The live compactions, where they have been read before. */
  readonly live?: LiveCompactions;
}

/** Loads the view at the tree's commit; of `known` it reads nothing, and adds to it what it reads. */
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
 * Loads the view with the turns that it shows and some more, by position, all of them whole. Where a call of one of those may be
 * answered in another turn, every turn is read.
 */
export async function loadAround(
  store: ConversationStore,
  tree: BranchTree,
  positions: readonly number[],
): Promise<LoadedTurns> {
  const live = await loadCompactions(store, tree);
  const turnCount = tree.turnOids.length;
  let turns = await loadShown(store, tree, { positions, views: [live.applied] });
  const isLoose = positions.some((position) =>
    hasUnpairedCalls(turns.get(position) ?? { index: position, events: [] }),
  );
  if (isLoose && turns.size < turnCount) turns = await loadTurns(store, tree);
  return { view: project({ turnCount, turns, compactions: live.applied }), live, turns };
}

/** The full history as a view: every turn kept as it is; of some turns (positions, inclusive) only those. */
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

/** Turns as a view that changes nothing. */
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

/** What a record is made of beside the tools. */
interface ToolRecordPlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** The turn from which on the tools are offered, 0-based. */
  readonly atTurn: number;
  /** Spaces before the keys of the record. */
  readonly padding: readonly number[];
}

/** Gives the files that record the tools. */
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

/** Whether a record says that just these tools are offered, in any order. */
export function isRecordOf(recorded: readonly RecordedTool[], tools: readonly ToolDefinition[]): boolean {
  const known = new Set(recorded.map(({ definition }) => definition));
  return recorded.length === tools.length && tools.every((tool) => known.has(definitionFile(tool).attachment));
}

/** Reads the definitions of recorded tools. One that is not there, or is none, is left out. */
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

/** The newest turn from which other tools were offered than before, 0-based; 0 when they never changed. */
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
    return 0; // fsck tells of records that are damaged
  }
}

function parseDefinition(text: string): ToolDefinition | null {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(text, value, MAX_RECORD_DEPTH) ? null : readToolDefinition(value);
  } catch {
    return null; // fsck tells of attachments that are not what their names say
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
 * Tokens of system prompt and tools by the newest line that names a version of the agent; null = nothing is known. Without
 * `mayFetch`, a line that is not here, in a partial clone, stays where it is.
 */
export async function typicalOverhead(
  store: ConversationStore,
  tree: BranchTree,
  { mayFetch }: { readonly mayFetch: boolean },
): Promise<number | null> {
  const { source } = tree.header;
  if (source === null) return null;
  // Hardly ever needed, and agents' formats are much code.
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
