import { type Logger, type OutboxPlace, unpackEnvelope } from "@bridge/ports";
import type { PostgresClient, Transaction } from "@bridge/postgres-kit";
import { identityOf, shortHash } from "./names.ts";
import { storedText, textOf } from "./stored-text.ts";

const NOTHING = new Uint8Array();
/** So many records are moved to another lane at a time; the oldest first, so that they keep their order. */
const SLICE = 5_000;

interface Head {
  readonly lane: number;
  readonly identity: string | null;
  readonly envelope: string;
}

interface LaneRow {
  readonly route_id: string;
  readonly binding_id: string;
}

/**
 * Records whose lane the table does not have, as when its row was deleted or the database put back. The identity of a
 * record says of which place it is, if the place is known: in the table, or to this instance.
 */
export class Astray {
  readonly #client: PostgresClient;
  readonly #logger: Logger;
  readonly #told = new Set<number>();

  constructor(client: PostgresClient, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  /** Gives them their lane again, under the number that they have; or another, if their place has got one. */
  async bringHome(places: readonly OutboxPlace[], signal: AbortSignal): Promise<void> {
    const what = "looking for records without a lane in the outbox";
    const text = `SELECT lane, identity, envelope FROM ${this.#client.table("outbox_astray")}()`;
    const { rows } = await this.#client.query<Head>({ what, text }, signal);
    if (rows.length === 0) return;
    const lanes = this.#client.table("outbox_lane");
    await this.#client.transaction(
      what,
      async (transaction) => {
        await transaction.query({ text: "SELECT pg_advisory_xact_lock($1::regclass::oid::int, 0)", values: [lanes] });
        const { rows: heads } = await transaction.query<Head>({ text });
        const { rows: there } = await transaction.query<LaneRow>({ text: `SELECT route_id, binding_id FROM ${lanes}` });
        const known = [
          ...places,
          ...there.map((row) => ({ routeId: textOf(row.route_id), bindingId: textOf(row.binding_id) })),
        ];
        for (const head of heads) await this.#home(head, known, transaction);
      },
      signal,
      { repeatable: true },
    );
  }

  async #home(head: Head, known: readonly OutboxPlace[], transaction: Transaction): Promise<void> {
    const { lane } = head;
    const place = placeOf(head, known);
    if (place === undefined) {
      if (this.#told.has(lane)) return;
      this.#told.add(lane);
      this.#logger.warn("the outbox has messages of a route or binding that is not known here: they wait", { lane });
      return;
    }
    const values = placeValues(place);
    const { count } = await transaction.query({
      text: `INSERT INTO ${this.#client.table("outbox_lane")} (lane, route_id, binding_id, place, keyed)
             OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, true) ON CONFLICT DO NOTHING`,
      values: [lane, ...values],
    });
    if (count === 0) {
      const queue = this.#client.table("outbox_queue");
      await transaction.query({
        text: `WITH home AS MATERIALIZED (
                 SELECT lane FROM ${this.#client.table("outbox_lane")} WHERE place = $2
               ), moved AS (
                 UPDATE ${queue} AS q SET lane = h.lane FROM home AS h
                  WHERE q.lane = $1
                    AND q.number IN (SELECT o.number FROM ${queue} AS o WHERE o.lane = $1 ORDER BY o.number LIMIT ${SLICE})
                 RETURNING q.number, q.lane
               )
               UPDATE ${this.#client.table("outbox_record")} AS r SET lane = m.lane FROM moved AS m WHERE r.number = m.number`,
        values: [lane, values[2]],
      });
    }
    const said = { lane, route: place.routeId, binding: place.bindingId };
    this.#logger.warn("messages of the outbox had lost their place in its tables: they have it again", said);
  }
}

/** The columns `route_id`, `binding_id` and `place`. */
export function placeValues({ routeId, bindingId }: OutboxPlace): readonly [string, string, Buffer] {
  return [storedText(routeId), storedText(bindingId), shortHash(JSON.stringify([routeId, bindingId]))];
}

function placeOf({ identity, envelope }: Head, known: readonly OutboxPlace[]): OutboxPlace | undefined {
  if (identity === null) return undefined;
  const { id } = unpackEnvelope(envelope, NOTHING);
  const hex = identity.replaceAll("-", "");
  return known.find((place) => identityOf(place, id).toString("hex") === hex);
}
