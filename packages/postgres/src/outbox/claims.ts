import { BridgeError, type ClaimRequest, type OutboxClaim, type OutboxRecord } from "@bridge/ports";
import type { Statement } from "../client/statement.ts";
import { int8s } from "./arrays.ts";
import { tokenOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import type { Place } from "./places.ts";
import { CONTENT_COLUMNS, recordOf, type StoredRow } from "./record-rows.ts";
import { storedText, textOf } from "./stored-text.ts";

/** How often the oldest number of a place is looked for: it costs what has not been vacuumed yet. */
const LOOK_MS = 2_000;
/** And no more of the time than one part of so many. */
const LOOK_SHARE = 20;
/** Loans whose answer did not come; older ones lapse. */
const MAX_LOST = 20;
/** In which a server that stood still makes what it was asked for. */
const LOST_MS = 600_000;
const MAX_ROUNDS = 5;

interface Lent {
  readonly number: number;
  readonly attempts: number;
  /** As the server holds it. */
  readonly id: string;
}

/**
 * Lends records. A claim without an answer may have been made, or be made yet; so it is said again under another token, and
 * what the former one holds is free for the claims of this handle.
 */
export class Claims {
  readonly #parts: OutboxParts;
  #lost: readonly { readonly loan: string; readonly until: number }[] = [];

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Of one place what is due and may be sent, oldest first. */
  async claim(request: ClaimRequest, signal: AbortSignal): Promise<readonly OutboxClaim[]> {
    const { client, places, claims } = this.#parts;
    if (request.limit <= 0) return [];
    const place = places.of(request);
    const floor = await this.#floorOf(place, signal);
    const statement = {
      what: "claiming from the outbox",
      name: "outbox_claim",
      text: `SELECT number, attempts, id FROM ${client.table("outbox_claim")}(
        $1::uuid, $2::int8, $3::int4, $4::int8, $5::float8, $6::text, $7::text[])`,
    };
    const limit = Math.min(request.limit, Math.ceil(claims.items));
    const values = [place.hash, floor, limit, Math.ceil(claims.bytes), request.loanMs];
    return this.#lend(statement, values, signal);
  }

  /** One pending record, due or not. */
  async claimOne(id: string, loanMs: number, signal: AbortSignal): Promise<OutboxClaim | undefined> {
    const statement = {
      what: "claiming a record of the outbox",
      text: `SELECT number, attempts, id FROM ${this.#parts.client.table("outbox_claim_one")}(
        $1::text, $2::float8, $3::text, $4::text[])`,
    };
    const [claim] = await this.#lend(statement, [storedText(id), loanMs], signal);
    return claim;
  }

  /** `values` go before the token and the tokens that were lost. */
  async #lend(statement: Statement, values: readonly unknown[], signal: AbortSignal): Promise<readonly OutboxClaim[]> {
    const { client, clock, random } = this.#parts;
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const loan = random.id();
      this.#lost = this.#lost.filter(({ until }) => until > clock.monotonic());
      const lost = this.#lost.map((one) => one.loan);
      try {
        const { rows, unsure } = await client.query<Lent>({ ...statement, values: [...values, loan, lost] }, signal);
        const records = unsure ? undefined : await this.#contentsOf(rows, signal);
        // Whoever gave up in this very moment does not get them.
        signal.throwIfAborted();
        if (records !== undefined) return claimsOf(rows, records, loan);
      } catch (error) {
        this.#lose(loan);
        throw error;
      }
      this.#lose(loan);
    }
    throw new BridgeError("UNAVAILABLE", `${statement.what} at ${client.label}: answers are lost again and again`, {
      charged: false,
    });
  }

  #lose(loan: string): void {
    const until = this.#parts.clock.monotonic() + LOST_MS;
    this.#lost = [...this.#lost, { loan, until }].slice(-MAX_LOST);
  }

  /** Where claims begin, and not at the remains of what is finished. */
  async #floorOf(place: Place, signal: AbortSignal): Promise<number> {
    const { client, clock } = this.#parts;
    const begunAt = clock.monotonic();
    if (begunAt < place.lookAgainAt) return place.floor;
    const { rows } = await client.query<{ number: number | null }>(
      {
        what: "claiming from the outbox",
        name: "outbox_oldest",
        text: `SELECT min(number) AS number FROM ${client.table("outbox_queue")} WHERE place = $1`,
        values: [place.hash],
      },
      signal,
    );
    const oldest = rows[0]?.number ?? null;
    if (oldest !== null) place.floor = oldest;
    const now = clock.monotonic();
    place.lookAgainAt = now + Math.max(LOOK_MS, (now - begunAt) * LOOK_SHARE);
    return place.floor;
  }

  /** Of those that are still there: who has lent them for a moment only may come too late. */
  async #contentsOf(lent: readonly Lent[], signal: AbortSignal): Promise<ReadonlyMap<number, OutboxRecord>> {
    const { client, contents, claims } = this.#parts;
    const records = new Map<number, OutboxRecord>();
    const unknown: number[] = [];
    for (const { number, id } of lent) {
      const record = contents.take(number);
      // A server that was put back to an earlier state gives numbers out again.
      if (record === undefined || record.id !== textOf(id)) unknown.push(number);
      else records.set(number, record);
    }
    if (unknown.length === 0) return records;
    const statement = {
      what: "reading records of the outbox",
      name: "outbox_read",
      text: `SELECT ${CONTENT_COLUMNS}
               FROM unnest($1::int8[]) AS g (number)
               JOIN ${client.table("outbox_record")} AS r ON r.number = g.number
               JOIN ${client.table("outbox_queue")} AS q ON q.place = r.place AND q.number = r.number`,
      values: [int8s(unknown)],
      endsWhenLate: unknown.length > 1,
    };
    const { items } = claims;
    try {
      const { rows } = await client.query<StoredRow>(statement, signal);
      for (const row of rows) records.set(row.number, recordOf(row));
      claims.ended({ items: rows.length, bytes: rows.reduce((sum, { payload }) => sum + payload.length, 0) });
      return records;
    } catch (error) {
      claims.ended({ items: Math.min(items, unknown.length), bytes: 0 }, error);
      throw error;
    }
  }
}

function claimsOf(
  lent: readonly Lent[],
  records: ReadonlyMap<number, OutboxRecord>,
  loan: string,
): readonly OutboxClaim[] {
  return lent
    .toSorted((a, b) => a.number - b.number)
    .flatMap(({ number, attempts }) => {
      const record = records.get(number);
      return record === undefined ? [] : { record, token: tokenOf({ number, loan }), attempts };
    });
}
