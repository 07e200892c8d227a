import { OrderedList, type Place } from "./ordered-list.ts";

/** How much a receiver holds for the engine to pull. */
export interface BacklogLimits {
  readonly requests: number;
  readonly bytes: number;
}

/** What one request takes up in a {@link Backlog}. */
export interface Reservation<T> {
  bytes: number;
  /** Where it waits to be pulled, once it is complete. */
  place: Place<T> | undefined;
}

/**
 * The requests that nobody works on yet: those whose bodies still arrive, and those that wait to be pulled, first come
 * first served. Bounded by their number and by the size of their bodies.
 */
export class Backlog<T> {
  readonly #limits: BacklogLimits;
  readonly #ready = new OrderedList<T>();
  #requests = 0;
  #bytes = 0;

  constructor(limits: BacklogLimits) {
    this.#limits = limits;
  }

  get requests(): number {
    return this.#requests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Room for a request that announces a body of `bytes`; `undefined` when there is none. */
  reserve(bytes: number): Reservation<T> | undefined {
    if (this.#requests >= this.#limits.requests || this.#bytes + bytes > this.#limits.bytes) return undefined;
    this.#requests++;
    this.#bytes += bytes;
    return { bytes, place: undefined };
  }

  /** Makes room for a body that has grown to `size` bytes; false when there is none. */
  extend(reservation: Reservation<T>, size: number): boolean {
    const more = Math.max(0, size - reservation.bytes);
    if (this.#bytes + more > this.#limits.bytes) return false;
    reservation.bytes += more;
    this.#bytes += more;
    return true;
  }

  /** Of those that are complete, the one that has waited longest. It keeps its room until {@link release}. */
  get first(): T | undefined {
    return this.#ready.first;
  }

  /** The request is complete and waits to be pulled. */
  keep(request: T, reservation: Reservation<T>): void {
    reservation.place = this.#ready.append(request);
  }

  /** Gives back the room of a request, which is pulled or ended; it cannot be pulled any more. */
  release(reservation: Reservation<T>): void {
    if (reservation.place !== undefined) this.#ready.remove(reservation.place);
    reservation.place = undefined;
    this.#requests--;
    this.#bytes -= reservation.bytes;
  }
}
