import type { OutboxParts } from "./outbox-parts.ts";

const SLICE = 5_000;
/** Traces of an instance that has been silent for so long, and has nothing on loan, go. */
const GONE = "1 hour";

interface Slice {
  readonly first: number | null;
  readonly last: number;
  readonly count: number;
  readonly fresh: number;
}

/** What is finished is forgotten some time later, the oldest numbers first. */
export class Forgetting {
  readonly #parts: OutboxParts;
  /** Nothing was there before this number. */
  #first = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Forgets records that were finished before `time`, some at a time. Returns how many. */
  async records(time: number, signal: AbortSignal): Promise<number> {
    const { client } = this.#parts;
    const table = client.table("outbox_record");
    const what = "forgetting records of the outbox";
    let forgotten = 0;
    for (let from = this.#first; ;) {
      const text = `
        SELECT min(number) AS first, max(number) AS last, count(*) AS count,
               count(*) FILTER (WHERE finished_at >= $2) AS fresh
          FROM (SELECT number, finished_at FROM ${table} WHERE number >= $1 ORDER BY number LIMIT ${SLICE}) AS s`;
      const { rows } = await client.query<Slice>({ what, text, values: [from, time] }, signal);
      const [slice] = rows;
      if (slice === undefined || slice.first === null) return forgotten;
      if (from === this.#first) this.#first = slice.first;
      const { count } = await client.query(
        {
          what,
          text: `DELETE FROM ${table} WHERE number >= $1 AND number <= $2 AND finished_at < $3`,
          values: [slice.first, slice.last, time],
        },
        signal,
      );
      forgotten += count;
      // Numbers are finished about in their order: what comes after these is younger.
      if (slice.count < SLICE || (count === 0 && slice.fresh > 0)) return forgotten;
      from = slice.last + 1;
    }
  }

  /** Forgets instances that are gone; what one has held whose clock nobody knows is free. */
  async instances(signal: AbortSignal): Promise<void> {
    const { client } = this.#parts;
    const [queue, instance] = [client.table("outbox_queue"), client.table("outbox_instance")];
    const what = "forgetting instances of the outbox";
    const texts = [
      `DELETE FROM ${instance} AS i WHERE beat_at < now() - interval '${GONE}'
          AND NOT EXISTS (SELECT FROM ${queue} AS q WHERE q.held_by = i.name)`,
      `UPDATE ${queue} AS q SET held_by = NULL, token = NULL
        WHERE held_by IS NOT NULL AND NOT EXISTS (SELECT FROM ${instance} AS i WHERE i.name = q.held_by)`,
      `DELETE FROM ${client.table("outbox_claimer")} WHERE claimed_at < now() - interval '${GONE}'`,
    ];
    for (const text of texts) await client.query({ what, text }, signal);
  }
}
