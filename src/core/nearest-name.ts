// Suggests the name a person probably meant, for errors about unknown names. Deterministic: ties go to the first name.

/** Longest distance at which a suggestion still helps: a third of the word's length, at least 1, at most 3 edits. */
function tolerance(word: string): number {
  return Math.min(3, Math.max(1, Math.floor(word.length / 3)));
}

/** Finds the name closest to a word (edit distance, letter case ignored), or undefined when none is close. */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = tolerance(word) + 1;
  for (const name of names) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Counts the insertions, deletions, replacements and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let cell = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, at(previous, column - 1) + cost);
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cell = Math.min(cell, at(beforePrevious, column - 2) + 1);
      current.push(cell);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] as number;
}
