// How a branch that was continued in two places is merged. Turns are never combined: a model's turns do not commute. All other
// files are written once, under unique names, and merge by which side has which. Both sides get the same result.

export interface CommitFiles {
  /** Object id of each turn file; index = turn position. */
  readonly turnOids: readonly string[];
  /** Object ids by path, of all files. */
  readonly files: ReadonlyMap<string, string>;
}

/** One of the two sides of a merge. */
export interface MergeSide extends CommitFiles {
  readonly commit: string;
  /** Paths of records that its own commits since the merge base added or removed. */
  readonly touched: ReadonlySet<string>;
}

/** Which side has all turns of the other: `both` = neither, each has turns of its own. */
export type TurnsOf = "same" | "ours" | "theirs" | "both";

const RECORDS = /^(compactions|config|meta)\//;

/**
 * Compares turns by object id. `bases` = merge bases, none for unrelated histories; `hasGrown` says whether one turn file is
 * the beginning of another, by object ids.
 */
export function compareTurns(
  ours: readonly string[],
  theirs: readonly string[],
  {
    bases,
    hasGrown,
  }: { readonly bases: readonly CommitFiles[]; readonly hasGrown: (from: string, to: string) => boolean },
): TurnsOf {
  const common = sharedTurns(ours, theirs);
  const [ourRest, theirRest] = [ours.slice(common), theirs.slice(common)];
  if (ourRest.length === 0) return theirRest.length === 0 ? "same" : "theirs";
  if (theirRest.length === 0 || bases.some((base) => isSameList(base.turnOids, theirs))) return "ours";
  if (bases.some((base) => isSameList(base.turnOids, ours))) return "theirs";
  const [our = "", their = ""] = [ourRest[0], theirRest[0]];
  if (ourRest.length === 1 && hasGrown(our, their)) return "theirs";
  if (theirRest.length === 1 && hasGrown(their, our)) return "ours";
  return "both";
}

/** How many turns two sides have in common, from the first. */
export function sharedTurns(ours: readonly string[], theirs: readonly string[]): number {
  const differs = ours.findIndex((oid, turn) => theirs[turn] !== oid);
  return differs < 0 ? ours.length : differs;
}

/** Orders the sides the same way for both callers: the one with all turns first, else the smaller commit id. */
export function orderSides(
  ours: MergeSide,
  theirs: MergeSide,
  turns: Exclude<TurnsOf, "both">,
): [MergeSide, MergeSide] {
  const oursFirst = turns === "same" ? ours.commit < theirs.commit : turns === "ours";
  return oursFirst ? [ours, theirs] : [theirs, ours];
}

/**
 * The merged files: turns of the first side; records that neither side removed since the merge base; everything else of either.
 * A record that one side removed is gone, even if the other added it again on its own.
 */
export function mergeFiles(
  [first, second]: readonly [MergeSide, MergeSide],
  bases: readonly CommitFiles[],
): ReadonlyMap<string, string> {
  const merged = new Map<string, string>();
  for (const [path, oid] of first.files) if (survivesMerge(path, second, bases)) merged.set(path, oid);
  for (const [path, oid] of second.files) {
    const isWanted = RECORDS.test(path) ? survivesMerge(path, first, bases) : !path.startsWith("turns/");
    if (isWanted && !merged.has(path)) merged.set(path, oid);
  }
  return merged;
}

/** Whether a file of one side stays, given the other side. */
function survivesMerge(path: string, other: MergeSide, bases: readonly CommitFiles[]): boolean {
  if (!RECORDS.test(path) || other.files.has(path)) return true;
  const wasThere = bases.length > 0 && bases.every((base) => base.files.has(path));
  return !wasThere && !other.touched.has(path);
}

/** The changes that turn one set of files into another. */
export function filesBetween(
  from: ReadonlyMap<string, string>,
  to: ReadonlyMap<string, string>,
): readonly ({ readonly path: string; readonly oid: string } | { readonly path: string; readonly remove: true })[] {
  const gone = [...from.keys()].filter((path) => !to.has(path)).map((path) => ({ path, remove: true }) as const);
  const put = [...to].filter(([path, oid]) => from.get(path) !== oid).map(([path, oid]) => ({ path, oid }));
  return [...gone, ...put];
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => other[index] === item);
}

// Whether lines are contained in others, estimated by their smallest hashes: the same sample wherever a line is. Exact for up
// to 32 different lines, a good guess above.

/** The smallest hashes of lines, ascending, each once. */
export type LineSketch = readonly number[];

/** How many hashes are kept. */
const KEPT = 32;
/** Share of the lines that counts as nearly all. */
const NEARLY_ALL = 0.9;

/** Sketches lines; white space around a line does not count. */
export function sketchLines(lines: Iterable<string>): LineSketch {
  const hashes = new Set<number>();
  for (const line of lines) hashes.add(hashOf(line.trim()));
  return [...hashes].sort((a, b) => a - b).slice(0, KEPT);
}

/** Whether nearly all lines of one are contained in another; false for no lines. */
export function isMostlyContained(lines: LineSketch, whole: LineSketch): boolean {
  const end = Math.min(boundOf(lines), boundOf(whole));
  const sample = lines.filter((hash) => hash <= end);
  const known = new Set(whole);
  return sample.length > 0 && sample.filter((hash) => known.has(hash)).length >= NEARLY_ALL * sample.length;
}

/** The hash up to which a sketch has every line. */
function boundOf(sketch: LineSketch): number {
  return sketch.length < KEPT ? Number.POSITIVE_INFINITY : (sketch[KEPT - 1] ?? 0);
}

/** FNV-1a, then mixed (as in MurmurHash3), so that small hashes are as likely for every kind of line. */
function hashOf(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at++) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
