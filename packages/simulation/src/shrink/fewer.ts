/** Leaves out as many items as it can while `holds` is true of the rest: first all of them, then halves, and so on. */
export async function fewer<Item>(
  all: readonly Item[],
  holds: (some: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let kept = all;
  for (let size = all.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < kept.length;) {
      const without = [...kept.slice(0, from), ...kept.slice(from + size)];
      if (await holds(without)) kept = without;
      else from += size;
    }
  }
  return kept;
}
