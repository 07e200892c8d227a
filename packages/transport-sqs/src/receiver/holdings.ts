import type { Hold } from "./hold.ts";

/** What is held of a queue: all of it, and of each group in order. */
export class Holdings implements Iterable<Hold> {
  readonly #all = new Set<Hold>();
  /** Sets keep the order in which they were filled. */
  readonly #groups = new Map<string, Set<Hold>>();

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<Hold> {
    return this.#all.values();
  }

  add(hold: Hold): void {
    this.#all.add(hold);
    if (hold.group === undefined) return;
    const group = this.#groups.get(hold.group);
    if (group === undefined) this.#groups.set(hold.group, new Set([hold]));
    else group.add(hold);
  }

  remove(hold: Hold): void {
    this.#all.delete(hold);
    if (hold.group === undefined) return;
    const group = this.#groups.get(hold.group);
    group?.delete(hold);
    if (group?.size === 0) this.#groups.delete(hold.group);
  }

  /** What is held of one group. */
  ofGroup(group: string): readonly Hold[] {
    return [...(this.#groups.get(group) ?? [])];
  }

  /** What is held behind a message in its group. */
  behind(hold: Hold): readonly Hold[] {
    if (hold.group === undefined) return [];
    const group = this.ofGroup(hold.group);
    return group.slice(group.indexOf(hold) + 1);
  }
}
