/** What is written before it takes the place of `path`; a writer that is killed leaves it. */
export function draftOf(path: string): string {
  return `${path}-new`;
}

/** Where the history of the document at `target` is kept. */
export function historyOf(target: string): string {
  return `${target}.history.jsonl`;
}

/** All that a writer may leave beside the document at `target`. */
export function draftsBeside(target: string): readonly string[] {
  return [target, historyOf(target)].map(draftOf);
}
