// Whether lines stand among others, told by a few of their hashes: the smallest ones, which are a sample that is the same wherever
// a line stands. Exact for up to 32 different lines, a good guess above.

/** The smallest hashes of lines, ascending, each once. */
export type LineSketch = readonly number[];

/** Hashes that are kept. */
const KEPT = 32;
/** So many of the lines make nearly all of them. */
const NEARLY_ALL = 0.9;

/** Gives a sketch of lines; what stands before and behind a line is none of it. */
export function sketchLines(lines: Iterable<string>): LineSketch {
  const hashes = new Set<number>();
  for (const line of lines) hashes.add(hashOf(line.trim()));
  return [...hashes].sort((a, b) => a - b).slice(0, KEPT);
}

/** Whether nearly all lines of one stand in another; of none, no. */
export function standsIn(lines: LineSketch, whole: LineSketch): boolean {
  const end = Math.min(boundOf(lines), boundOf(whole));
  const sample = lines.filter((hash) => hash <= end);
  const known = new Set(whole);
  return sample.length > 0 && sample.filter((hash) => known.has(hash)).length >= NEARLY_ALL * sample.length;
}

/** Up to where a sketch knows every line. */
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
