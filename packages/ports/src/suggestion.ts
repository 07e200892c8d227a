/** Longer words are no slips of the finger, and comparing them would take long. */
const MAX_LENGTH = 64;

/** `; did you mean "x"?` when one of the known words is near to `word`, else nothing. */
export function suggestion(word: string, known: Iterable<string>): string {
  const words = [...known];
  const nearest = nearestWord(word, words) ?? fullerWord(word, words);
  return nearest === undefined ? "" : `; did you mean "${nearest}"?`;
}

/** The known word that `word` is most likely a slip for: at most a third of its letters differ. */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (candidate === word || Math.abs(candidate.length - word.length) >= least) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/**
 * The one known word of several parts that says what `word` says in shorter parts, such as `max_replay_attempts` for
 * `max_replays` and `on_permanent_failure` for `on_perm_failure`.
 */
function fullerWord(word: string, known: readonly string[]): string | undefined {
  const parts = word.toLowerCase().split("_");
  if (parts.length < 2 || word.length > MAX_LENGTH) return undefined;
  const fuller = known.filter((candidate) => says(candidate.split("_"), parts));
  return fuller.length === 1 ? fuller[0] : undefined;
}

/** Whether each part begins one of `words`, in their order; a plural is none. */
function says(words: readonly string[], parts: readonly string[]): boolean {
  let next = 0;
  return parts.every((part) => {
    const stem = part.replace(/s$/, "");
    const found = words.findIndex((word, index) => index >= next && stem !== "" && word.startsWith(stem));
    next = found + 1;
    return found !== -1;
  });
}

/** How many letters to insert, delete, replace or swap with their neighbour to get from `a` to `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
