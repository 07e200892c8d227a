import type { Clock, Logger, StoreHealth } from "@bridge/ports";
import { envelopeIdIn } from "@bridge/ports/internal";
import type { PostgresClient } from "../client/postgres-client.ts";
import { int8s, texts, uuids } from "./arrays.ts";
import { placeBytes } from "./names.ts";
import type { Place } from "./places.ts";
import { STATUSES } from "./record-rows.ts";
import { textOf } from "./stored-text.ts";

/** No more are told apart: each is in the log. */
const MAX_RECORDS = 10_000;
/** Somebody may have mended or deleted them. */
const REVIEW_MS = 30_000;

/** What a row says of itself, which need not be so; all as the server holds it. */
export interface Written {
  readonly route_id: string;
  readonly binding_id: string;
  readonly envelope: string;
}

/** A row of the queue that is not as it was written. */
export interface SpoiledRow extends Row, Written {}

interface Row {
  /** As the server writes it. */
  readonly place: string;
  readonly number: number;
  /** As the server holds it. */
  readonly id: string;
}

interface Spoiled extends Row {
  /** Of those that are not, the next claim finds out what they are now. */
  isPassedOver: boolean;
}

/**
 * Unfinished records that this handle has found not to be as they were written. They stay in the queue, are not lent, and do
 * not hold up others: the next of their key is sent, as behind one that was given up.
 */
export class SpoiledRecords {
  readonly #client: PostgresClient;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #found = new Map<number, Spoiled>();
  #misplaced: ReadonlySet<number> = new Set();
  /** By the hashes of places, in monotonic milliseconds. */
  readonly #reviewedAt = new Map<string, number>();
  /** The client bounds each call, and ends it when the store is closed. */
  readonly #signal = new AbortController().signal;

  constructor(client: PostgresClient, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#client = client;
    this.#clock = clock;
    this.#logger = logger;
  }

  health(): Pick<StoreHealth, "spoiled"> {
    return this.#found.size === 0 ? {} : { spoiled: this.#found.size };
  }

  /** Whether claims pass over it from now on; there may be too many. */
  found(row: SpoiledRow): boolean {
    const { place, number, id } = row;
    const known = this.#found.get(number);
    if (known === undefined && this.#found.size >= MAX_RECORDS) return false;
    this.#found.set(number, { place, number, id, isPassedOver: true });
    if (known?.id === id) return true;
    const name = hashOf(place);
    if (!this.#reviewedAt.has(name)) this.#reviewedAt.set(name, this.#clock.monotonic());
    this.#logger.error("a record of the outbox is not as it was written: it is kept, and not sent", {
      record_id: textOf(id),
      route_id: textOf(row.route_id),
      binding_id: textOf(row.binding_id),
      envelope_id: envelopeIdIn(row.envelope),
    });
    return true;
  }

  /** All that lie where no claim looks, because their place is not that of their route and binding. */
  misplaced(rows: readonly SpoiledRow[]): void {
    const numbers = new Set(rows.map(({ number }) => number));
    // The others were put back or deleted.
    for (const number of this.#misplaced) if (!numbers.has(number)) this.#found.delete(number);
    this.#misplaced = numbers;
    for (const row of rows) this.found(row);
  }

  /** It is as it was written again. */
  over(number: number): void {
    this.#found.delete(number);
  }

  /** The numbers that a claim of the place passes over. */
  async passedOver({ hash }: Place, signal: AbortSignal): Promise<readonly number[]> {
    if (this.#found.size === 0) return [];
    const name = hash.toString("hex");
    const own = [...this.#found.values()].filter(({ place }) => hashOf(place) === name);
    const now = this.#clock.monotonic();
    if (own.length > 0 && now - (this.#reviewedAt.get(name) ?? 0) >= REVIEW_MS) {
      this.#reviewedAt.set(name, now);
      await this.#review(own, signal);
    }
    return own.filter(({ isPassedOver }) => isPassedOver).map(({ number }) => number);
  }

  /**
   * An operator knows of them: they are ended as dead, and what there is of them goes into a table of its own. Returns their
   * ids.
   */
  acknowledge(): readonly string[] {
    const known = [...this.#found.values()];
    if (known.length > 0) void this.#end(known);
    return known.map(({ id }) => textOf(id));
  }

  async #review(own: readonly Spoiled[], signal: AbortSignal): Promise<void> {
    const { rows } = await this.#client.query<{ number: number }>(
      {
        what: "looking for spoiled records of the outbox",
        text: `SELECT q.number FROM ${this.#client.table("outbox_queue")} AS q
                 JOIN unnest($1::uuid[], $2::int8[], $3::text[]) AS g (place, number, id)
                   ON q.place = g.place AND q.number = g.number AND q.id = g.id`,
        values: keysOf(own),
      },
      signal,
    );
    const there = new Set(rows.map(({ number }) => number));
    for (const one of own) {
      one.isPassedOver = false;
      if (!there.has(one.number)) this.#found.delete(one.number);
    }
  }

  async #end(known: readonly Spoiled[]): Promise<void> {
    const table = (name: string): string => this.#client.table(name);
    const statement = {
      what: "putting spoiled records of the outbox aside",
      text: `
        WITH ended AS (
          DELETE FROM ${table("outbox_queue")} AS q USING unnest($1::uuid[], $2::int8[], $3::text[]) AS g (place, number, id)
           WHERE q.place = g.place AND q.number = g.number AND q.id = g.id
          RETURNING q.*
        ), kept AS (
          INSERT INTO ${table("outbox_spoiled")} SELECT * FROM ended
        )
        UPDATE ${table("outbox_record")} AS r SET status = ${STATUSES.indexOf("dead")}, finished_at = ${table("outbox_now")}()
          FROM ended AS e WHERE r.number = e.number`,
      values: keysOf(known),
    };
    try {
      await this.#client.query(statement, this.#signal);
      for (const { number } of known) this.#found.delete(number);
    } catch (error) {
      // They are still counted, and may be acknowledged again.
      this.#logger.warn("spoiled records were not put aside", { count: known.length, error: String(error) });
    }
  }
}

function keysOf(rows: readonly Row[]): readonly Buffer[] {
  return [
    uuids(rows.map(({ place }) => placeBytes(place))),
    int8s(rows.map(({ number }) => number)),
    texts(rows.map(({ id }) => id)),
  ];
}

function hashOf(place: string): string {
  return placeBytes(place).toString("hex");
}
