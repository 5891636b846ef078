// Text that comes in pieces, handed on in whole characters: the two halves of one may come in two pieces.

/** Joins pieces. */
export interface WholeCharacters {
  /** Takes a piece; gives all of it but a half character at its end, with the half that waited before it. */
  take(piece: string): string;
  /** Ends the text: a sign for a half that nothing followed, else "". */
  end(): string;
}

/** Creates a joiner; after its end it begins anew. */
export function createWholeCharacters(): WholeCharacters {
  let half = "";
  return {
    take(piece) {
      const joined = half + piece;
      half = /[\ud800-\udbff]$/.exec(joined)?.[0] ?? "";
      return joined.slice(0, joined.length - half.length);
    },
    end() {
      const left = half === "" ? "" : "\ufffd";
      half = "";
      return left;
    },
  };
}
