// How long a document is, told from its bytes: the pages of a PDF, roughly. A provider is sent a PDF as the text and the picture of
// each page, so that its pages, not its bytes, say how many tokens it takes. Pure: who can unpack streams hands that in.

/** Unpacks a zlib stream; null when it is none, is damaged, or gets too long. */
export type Inflate = (bytes: Uint8Array) => Uint8Array | null;

/** Where a PDF begins with its mark, at the latest: bytes that readers take before it. */
const MARK_WITHIN = 1024;
/** Of a PDF whose pages cannot be found, encrypted or damaged: bytes of a page with fonts and a picture. */
const PAGE_BYTES = 50_000;
/** No page takes fewer bytes, so that a number in a damaged file is not believed. */
const LEAST_PAGE_BYTES = 100;
/** Object streams that are unpacked, and bytes of them all: a PDF of a thousand pages has a hundred streams of 50 kB. */
const MOST_STREAMS = 5000;
const MOST_UNPACKED = 64 * 1024 * 1024;

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
const PAGE_TREE = /\/Type\s*\/Pages(?![A-Za-z])/g;
const OBJECT_STREAM = /\/Type\s*\/ObjStm(?![A-Za-z])/g;

/**
 * Counts the pages of a PDF, 1 or more; null where the bytes are none. Pages stand in the file as they are or in packed object
 * streams; where these cannot be unpacked, or nothing tells, the size of the file does.
 */
export function countPages(bytes: Uint8Array, inflate: Inflate = () => null): number | null {
  // One byte, one character: positions in the text are positions in the bytes.
  const text = new TextDecoder("latin1").decode(bytes);
  if (!text.slice(0, MARK_WITHIN).includes("%PDF-")) return null;
  const { texts, isWhole } = unpackObjects(text, bytes, inflate);
  const all = [text, ...texts];
  const pages = all.reduce((sum, one) => sum + [...one.matchAll(PAGE)].length, 0);
  const told = Math.max(0, ...all.flatMap(countsIn));
  const most = Math.max(1, Math.floor(bytes.length / LEAST_PAGE_BYTES));
  let found = Math.max(pages, Math.min(told, most));
  // A page that was changed stands in the file once more.
  if (isWhole && pages > 0) found = told > 0 ? Math.min(pages, told) : pages;
  return found > 0 ? found : Math.max(1, Math.round(bytes.length / PAGE_BYTES));
}

/** What the packed object streams hold; whole = all of them were unpacked. */
function unpackObjects(
  text: string,
  bytes: Uint8Array,
  inflate: Inflate,
): { readonly texts: readonly string[]; readonly isWhole: boolean } {
  const texts: string[] = [];
  let [left, isWhole] = [MOST_UNPACKED, true];
  for (const { index } of text.matchAll(OBJECT_STREAM)) {
    const place = streamAt(text, index);
    // One that is not packed was read with the file.
    if (place?.isPacked === false) continue;
    const isTooMuch = left <= 0 || texts.length >= MOST_STREAMS;
    const unpacked = place === null || isTooMuch ? null : inflate(bytes.subarray(place.start, place.end));
    if (unpacked === null) isWhole = false;
    else {
      left -= unpacked.length;
      texts.push(new TextDecoder("latin1").decode(unpacked));
    }
  }
  return { texts, isWhole };
}

interface StreamPlace {
  readonly start: number;
  readonly end: number;
  readonly isPacked: boolean;
}

/** The stream of the object whose dictionary stands around a position. */
function streamAt(text: string, at: number): StreamPlace | null {
  const mark = text.indexOf("stream", at);
  const end = text.indexOf("endstream", at);
  if (mark < 0 || end <= mark) return null;
  const dictionary = text.slice(text.lastIndexOf("obj", at), mark);
  const start = mark + "stream".length + (text.startsWith("\r\n", mark + "stream".length) ? 2 : 1);
  return { start, end, isPacked: dictionary.includes("/Filter") };
}

/** What the nodes of page trees say they hold, among them the root, which holds all. */
function countsIn(text: string): readonly number[] {
  return [...text.matchAll(PAGE_TREE)].flatMap(({ index, 0: { length } }) => {
    // The count stands before or after the type, with no other object between.
    const next = text.indexOf("/Type", index + length);
    const before = text.slice(text.lastIndexOf("/Type", index - 1) + 1, index);
    const after = text.slice(index + length, next < 0 ? undefined : next);
    const count = /\/Count\s+(\d+)/.exec(after) ?? /\/Count\s+(\d+)(?!.*\/Count)/s.exec(before);
    return count === null ? [] : [Number(count[1])];
  });
}
