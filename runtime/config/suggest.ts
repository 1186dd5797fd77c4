/** Longer words are unlikely to be typing errors, and comparing them would be slow. */
const MAXIMUM_LENGTH = 64;

/**
 * The candidate that was probably meant, or undefined if none is similar. Ignores case, hyphens and underscores. A
 * prefix or a part of a candidate (`pool-size`) is similar too.
 */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAXIMUM_LENGTH) return undefined;
  const wanted = plain(word);
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const other = plain(candidate);
    const distance = editDistance(wanted, other);
    const isPart = wanted.length >= 3 && other.includes(wanted);
    const near = isPart || distance <= Math.max(wanted.length, other.length) * 0.4;
    if (near && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** `did you mean "…"?`, or undefined if no candidate is similar. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const candidate = suggest(word, candidates);
  return candidate === undefined ? undefined : `did you mean "${candidate}"?`;
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/**
 * Number of insertions, deletions, replacements and swaps of adjacent characters that turn one word into the other
 * (Damerau-Levenshtein distance).
 */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(swapped ? Math.min(cost, at(beforePrevious, column - 2) + 1) : cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
