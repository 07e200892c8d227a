import { orAborted, type OutboxPlace } from "@bridge/ports";
import type { PostgresClient, Statement } from "@bridge/postgres-kit";
import { Slots } from "@bridge/store-kit";
import { shortHash } from "./names.ts";
import { storedText } from "./stored-text.ts";

/** What is known here of the records of one route and binding. */
export interface Lane {
  readonly lane: number;
  /** Whether claims have to mind keys, as the table says it. */
  keyed: boolean;
  /** Claims of this handle take turns. */
  readonly turns: Slots;
  turn: number;
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

/** The lanes, each a route and binding, by the numbers that the tables know them by. */
export class Lanes {
  readonly #client: PostgresClient;
  readonly #lanes = new Map<string, Promise<Lane>>();

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  /** The lane of a place; it is entered if it is not there. */
  async of(place: OutboxPlace, signal: AbortSignal): Promise<Lane> {
    const name = JSON.stringify([place.routeId, place.bindingId]);
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      // Not cut off by one caller: others wait for it too. The client bounds it.
      lane = this.#enter(place, name, new AbortController().signal);
      this.#lanes.set(name, lane);
      lane.catch(() => this.#lanes.delete(name));
    }
    return orAborted(lane, signal);
  }

  /** Says that there will be records with keys: before the first is persisted, so that no claim overlooks it. */
  async useKeys(lane: Lane, signal: AbortSignal): Promise<void> {
    if (lane.keyed) return;
    const text = `UPDATE ${this.#client.table("outbox_lane")} SET keyed = true WHERE lane = $1`;
    await this.#client.query({ what: "entering a lane of the outbox", text, values: [lane.lane] }, signal);
    lane.keyed = true;
  }

  async #enter({ routeId, bindingId }: OutboxPlace, name: string, signal: AbortSignal): Promise<Lane> {
    const table = this.#client.table("outbox_lane");
    const what = "entering a lane of the outbox";
    const find: Statement = {
      what,
      text: `SELECT lane, keyed FROM ${table} WHERE place = $1`,
      values: [shortHash(name)],
    };
    const add: Statement = {
      what,
      text: `INSERT INTO ${table} (route_id, binding_id, place) VALUES ($1, $2, $3) ON CONFLICT (place) DO NOTHING`,
      values: [storedText(routeId), storedText(bindingId), shortHash(name)],
    };
    for (;;) {
      const { rows } = await this.#client.query<{ lane: number; keyed: boolean }>(find, signal);
      const [row] = rows;
      if (row !== undefined) {
        return { ...row, turns: new Slots(1), turn: 0, floor: 0, highest: 0, lookAgainAt: -Infinity, lost: [] };
      }
      await this.#client.query(add, signal);
    }
  }
}
