/** A member of one {@link LinkedList} at a time, which alone writes its neighbours. */
export interface Linked<Member> {
  before: Member | undefined;
  after: Member | undefined;
}

/**
 * Members in the order in which they came, with removal from anywhere at no cost.
 *
 * A Set has that order too, but walks over the holes of those who have left: one that is emptied from the front, as a
 * queue is, takes longer for each step the longer it lives.
 */
export class LinkedList<Member extends Linked<Member>> implements Iterable<Member> {
  #first: Member | undefined;
  #last: Member | undefined;
  #size = 0;

  get first(): Member | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  add(member: Member): void {
    member.before = this.#last;
    member.after = undefined;
    if (this.#last === undefined) this.#first = member;
    else this.#last.after = member;
    this.#last = member;
    this.#size++;
  }

  delete(member: Member): void {
    if (member.before === undefined) this.#first = member.after;
    else member.before.after = member.after;
    if (member.after === undefined) this.#last = member.before;
    else member.after.before = member.before;
    member.before = undefined;
    member.after = undefined;
    this.#size--;
  }

  clear(): void {
    this.#first = undefined;
    this.#last = undefined;
    this.#size = 0;
  }

  /** The member that is being looked at may leave meanwhile. */
  *[Symbol.iterator](): Generator<Member> {
    for (let member = this.#first; member !== undefined;) {
      const { after } = member;
      yield member;
      member = after;
    }
  }
}
