import { idOf, nameOf } from "../message.ts";
import type { RouteName } from "../routes.ts";
import { Entry } from "./entry.ts";

/** What the auditor has counted over all messages. */
export interface Totals {
  readonly offered: number;
  readonly accepted: number;
  /** Offered, and not settled by the bridge yet. */
  readonly unsettled: number;
  readonly arrived: number;
  /** Arrivals beyond the first of each message. */
  readonly repeats: number;
  /** Handed to the bridge beyond the first time, by the source's broker or by callers. */
  readonly handedAgain: number;
}

/** The auditor's own book: every message that it has offered, and all that became of it. */
export class Ledger {
  readonly #books: ReadonlyMap<RouteName, Entry[]>;
  readonly #began: number;
  readonly #totals = { offered: 0, accepted: 0, unsettled: 0, arrived: 0, repeats: 0, handedAgain: 0 };
  /** Ids at a target that nobody has offered, and those whose payload was not as it was sent. */
  readonly strangers = new Set<string>();
  readonly spoiled = new Set<string>();

  /** `began`: epoch milliseconds that times are counted from. */
  constructor(routes: readonly RouteName[], began: number) {
    this.#began = began;
    this.#books = new Map(routes.map((route) => [route, []]));
  }

  get totals(): Totals {
    return { ...this.#totals };
  }

  /** The name of a new message of a route. */
  open(route: RouteName): { readonly id: string; readonly number: number } {
    const book = this.#books.get(route) ?? [];
    const number = book.push(new Entry()) - 1;
    this.#totals.offered++;
    this.#totals.unsettled++;
    return { id: idOf({ route, number }), number };
  }

  offered(id: string): void {
    const entry = this.find(id);
    if (entry === undefined) return;
    if (entry.offers++ === 0) entry.offeredAt = this.#now();
  }

  accepted(id: string): void {
    const entry = this.find(id);
    if (entry === undefined || entry.accepted) return;
    entry.accepted = true;
    entry.acceptedAt = this.#now();
    this.#totals.accepted++;
  }

  handed(id: string): void {
    const entry = this.find(id);
    if (entry === undefined) return;
    entry.handedAt = this.#now();
    if (entry.handed++ > 0) this.#totals.handedAgain++;
    else entry.firstHandedAt = entry.handedAt;
  }

  settled(id: string): void {
    const entry = this.find(id);
    if (entry === undefined) return;
    if (entry.settled++ === 0) this.#totals.unsettled--;
    entry.settledAt = this.#now();
  }

  sent(id: string): void {
    const entry = this.find(id);
    if (entry === undefined) return;
    entry.sends++;
    entry.sentAt = this.#now();
  }

  /** A send may have reached the target without the bridge knowing it. */
  doubtful(id: string): void {
    const entry = this.find(id);
    if (entry !== undefined) entry.doubtful++;
  }

  arrived(id: string, intact: boolean): void {
    const entry = this.find(id);
    if (entry === undefined) {
      this.strangers.add(id);
      return;
    }
    if (!intact) this.spoiled.add(id);
    entry.arrivedAt = this.#now();
    if (entry.arrived++ > 0) this.#totals.repeats++;
    else {
      entry.firstArrival = ++this.#totals.arrived;
      entry.handedToArriveAt = entry.handedAt;
    }
  }

  hasArrived(id: string): boolean {
    return (this.find(id)?.arrived ?? 0) > 0;
  }

  *entries(route: RouteName): Generator<readonly [id: string, entry: Entry]> {
    for (const [number, entry] of (this.#books.get(route) ?? []).entries()) yield [idOf({ route, number }), entry];
  }

  /** `undefined` when nobody has offered it. */
  find(id: string): Entry | undefined {
    const name = nameOf(id);
    return name === undefined ? undefined : this.#books.get(name.route)?.[name.number];
  }

  #now(): number {
    return Date.now() - this.#began;
  }
}
