// Finds many short texts in one long one. What stands in it is told from where its rarest four characters stand, so that asking
// costs what is asked for and not the length of the text.

/** Tells whether the indexed text holds another. */
export type HoldsText = (text: string) => boolean;

/** Characters that places are told by. */
const GRAM = 4;
/** Where even the rarest four characters stand more often, the text is searched. */
const MOST_PLACES = 64;

/** Indexes a text; the work is done with the first question. */
export function indexText(text: string): HoldsText {
  let places: Map<number, number[]> | undefined;
  return (wanted) => {
    if (wanted.length < GRAM) return text.includes(wanted);
    places ??= listPlaces(text);
    const [found, offset] = rarest(wanted, places);
    if (found.length > MOST_PLACES) return text.includes(wanted);
    return found.some((place) => text.startsWith(wanted, place - offset));
  };
}

function listPlaces(text: string): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (let at = 0; at + GRAM <= text.length; at += 1) {
    const key = gramAt(text, at);
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    // One more than are looked at says as much as all of them.
    else if (known.length <= MOST_PLACES) known.push(at);
  }
  return places;
}

/** The places of the rarest four characters of a text, and where in it they stand. */
function rarest(wanted: string, places: ReadonlyMap<number, readonly number[]>): readonly [readonly number[], number] {
  let best: readonly number[] | undefined;
  let offset = 0;
  for (let at = 0; at + GRAM <= wanted.length; at += 1) {
    const found = places.get(gramAt(wanted, at)) ?? [];
    if (best === undefined || found.length < best.length) [best, offset] = [found, at];
    if (best.length === 0) break;
  }
  return [best ?? [], offset];
}

/** Four characters as a number; two quadruples may share one, which only costs a look. */
function gramAt(text: string, at: number): number {
  let key = 0;
  for (let next = at; next < at + GRAM; next += 1) key = Math.imul(key, 0x01000193) ^ text.charCodeAt(next);
  return key;
}
