/** A member of a {@link Bag}, which alone writes its place. */
export interface Placed {
  place: number;
}

/**
 * An unordered collection that members enter and leave for each message.
 *
 * A Map or a Set that is written so often replaces its table again and again, and each dead table holds on to the one
 * after it with all of its entries: they then outlive the cheap collection of young objects, which made half of the
 * engine's work.
 */
export class Bag<Member extends Placed> implements Iterable<Member> {
  readonly #members: Member[] = [];

  /** How many are in. */
  get size(): number {
    return this.#members.length;
  }

  add(member: Member): void {
    member.place = this.#members.push(member) - 1;
  }

  /** Returns whether the member was there. */
  delete(member: Member): boolean {
    const { place } = member;
    if (this.#members[place] !== member) return false;
    const last = this.#members.pop();
    if (last !== undefined && last !== member) {
      this.#members[place] = last;
      last.place = place;
    }
    return true;
  }

  /** Everybody leaves. */
  clear(): void {
    for (const member of this) this.delete(member);
  }

  /** Over those who are in now, also when some leave meanwhile. */
  [Symbol.iterator](): ArrayIterator<Member> {
    return [...this.#members].values();
  }
}
