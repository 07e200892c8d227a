import { BridgeError, orAborted, type OutboxPlace } from "@bridge/ports";
import type { PostgresClient } from "@bridge/postgres-kit";
import { Slots } from "@bridge/store-kit";
import { type Astray, placeValues } from "./astray.ts";

/** A number that is taken is passed over; so many in a row are not. */
const MAX_TRIES = 100;

/**
 * What is known here of the records of one route and binding. The database may go back to a moment before it: each
 * statement that goes by the number has the table confirm it, and {@link Lanes.enterAgain} follows what it is now.
 */
export interface Lane {
  readonly routeId: string;
  readonly bindingId: string;
  /** As the table names it. */
  readonly place: Buffer;
  lane: number;
  /** Claims of this handle take turns. */
  readonly turns: Slots;
  /**
   * The oldest number when it was looked at last: claims begin there, and not at the remains of what is finished. Numbers
   * before it may come up still, of transactions that were under way then; so it is looked at again and again.
   */
  floor: number;
  /** Of what was lent here. */
  highest: number;
  /** Monotonic milliseconds. */
  lookAgainAt: number;
  /** Loans of claims whose answer, or that to one of their tries, did not come: the next claim gives back what they lent. */
  lost: readonly string[];
}

const what = "entering a lane of the outbox";

/** The lanes, each a route and binding, by the numbers that the tables know them by. */
export class Lanes {
  readonly #client: PostgresClient;
  readonly #astray: Astray;
  readonly #lanes = new Map<string, Promise<Lane>>();
  readonly #places = new Map<string, OutboxPlace>();
  #turn = 0;

  constructor(client: PostgresClient, astray: Astray) {
    this.#client = client;
    this.#astray = astray;
  }

  /** The lane of a place; it is entered if it is not there. */
  async of(place: OutboxPlace, signal: AbortSignal): Promise<Lane> {
    const name = JSON.stringify([place.routeId, place.bindingId]);
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      const { routeId, bindingId } = place;
      this.#places.set(name, { routeId, bindingId });
      // Not cut off by one caller: others wait for it too. The client bounds it.
      lane = this.#enter({ routeId, bindingId }, new AbortController().signal);
      this.#lanes.set(name, lane);
      lane.catch(() => this.#lanes.delete(name));
    }
    return orAborted(lane, signal);
  }

  /** Enters a lane that the table does not have as it is known here, and says whether it has keys, if it has. */
  async enterAgain(lane: Lane, keyed: boolean, signal: AbortSignal): Promise<void> {
    const before = lane.lane;
    const now = await this.#number(lane, signal);
    if (keyed) {
      const text = `UPDATE ${this.#client.table("outbox_lane")} SET keyed = true WHERE place = $1 AND NOT keyed`;
      await this.#client.query({ what, text, values: [lane.place] }, signal);
    }
    if (now !== before) Object.assign(lane, { lane: now, ...UNSEEN });
  }

  /** Counts the claims of this handle, whatever their lanes: a number may pass from one lane to another. */
  nextTurn(): number {
    return ++this.#turn;
  }

  /** Finds what has no lane any more. */
  async bringHome(signal: AbortSignal): Promise<void> {
    await this.#astray.bringHome([...this.#places.values()], signal);
  }

  async #enter(place: OutboxPlace, signal: AbortSignal): Promise<Lane> {
    const lane = await this.#number(place, signal);
    return { ...place, place: placeValues(place)[2], lane, turns: new Slots(1), ...UNSEEN, lost: [] };
  }

  async #number(place: OutboxPlace, signal: AbortSignal): Promise<number> {
    const table = this.#client.table("outbox_lane");
    const values = placeValues(place);
    const find = { what, text: `SELECT lane FROM ${table} WHERE place = $1`, values: [values[2]] };
    // A number under which there are records is theirs.
    const add = {
      what,
      text: `INSERT INTO ${table} (lane, route_id, binding_id, place) OVERRIDING SYSTEM VALUE
             SELECT n.lane, $1, $2, $3
               FROM (SELECT nextval(pg_get_serial_sequence($4, 'lane'))::int AS lane OFFSET 0) AS n
              WHERE NOT EXISTS (SELECT FROM ${this.#client.table("outbox_queue")} AS q WHERE q.lane = n.lane)
             ON CONFLICT DO NOTHING`,
      values: [...values, table],
    };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { rows } = await this.#client.query<{ lane: number }>(find, signal);
      const [row] = rows;
      if (row !== undefined) return row.lane;
      if (tries === 0) await this.#astray.bringHome([place], signal);
      else await this.#client.query(add, signal);
    }
    throw new BridgeError("UNAVAILABLE", "the outbox has no number free for a lane", { charged: false });
  }
}

/** Of a lane of which nothing has been read yet. */
const UNSEEN = { floor: 0, highest: 0, lookAgainAt: -Infinity } as const;
