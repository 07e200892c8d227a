import { BridgeError, type ClaimRequest, type OutboxClaim, type OutboxRecord } from "@bridge/ports";
import { spoiledRecord } from "@bridge/ports/internal";
import type { Statement } from "../client/statement.ts";
import { int8s, uuids } from "./arrays.ts";
import type { Finishes } from "./finishes.ts";
import { placeBytes, tokenOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import type { Place } from "./places.ts";
import { CONTENT_COLUMNS, recordOf, type StoredRow } from "./record-rows.ts";
import type { Written } from "./spoiled-records.ts";
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
  readonly place: string;
  readonly number: number;
  readonly attempts: number;
  /** As the server holds it. */
  readonly id: string;
}

/** What there is of a record that is not as it was written. */
interface Unsound {
  readonly unsound: Written;
}

/** By their numbers. */
type Contents = ReadonlyMap<number, OutboxRecord | Unsound>;

interface Loans {
  readonly claims: readonly OutboxClaim[];
  /** Of records that are not as they were written; ended. */
  readonly spoiled: number;
}

/**
 * Lends records. A claim without an answer may have been made, or be made yet; so it is repeated under another token, and
 * what the former one holds is free for the claims of this handle.
 */
export class Claims {
  readonly #parts: OutboxParts;
  readonly #finishes: Finishes;
  #lost: readonly { readonly loan: string; readonly until: number }[] = [];

  constructor(parts: OutboxParts, finishes: Finishes) {
    this.#parts = parts;
    this.#finishes = finishes;
  }

  /** Of one place what is due and may be sent, oldest first. */
  async claim(request: ClaimRequest, signal: AbortSignal): Promise<readonly OutboxClaim[]> {
    const { client, places, claims, spoiled } = this.#parts;
    if (request.limit <= 0) return [];
    const place = places.of(request);
    const floor = await this.#floorOf(place, signal);
    const statement = {
      what: "claiming from the outbox",
      name: "outbox_claim",
      text: `SELECT place, number, attempts, id FROM ${client.table("outbox_claim")}(
        $1::uuid, $2::int8, $3::int4, $4::int8, $5::float8, $6::int8[], $7::text, $8::text[])`,
    };
    const limit = Math.min(request.limit, Math.ceil(claims.items));
    for (;;) {
      const passedOver = await spoiled.passedOver(place, signal);
      const values = [place.hash, floor, limit, Math.ceil(claims.bytes), request.loanMs, int8s(passedOver)];
      const loans = await this.#lend(statement, values, signal);
      // Nothing lent means that nothing is due.
      if (loans.claims.length > 0 || loans.spoiled === 0) return loans.claims;
    }
  }

  /** One pending record, due or not. */
  async claimOne(id: string, loanMs: number, signal: AbortSignal): Promise<OutboxClaim | undefined> {
    const statement = {
      what: "claiming a record of the outbox",
      text: `SELECT place, number, attempts, id FROM ${this.#parts.client.table("outbox_claim_one")}(
        $1::text, $2::float8, $3::text, $4::text[])`,
    };
    const { claims, spoiled } = await this.#lend(statement, [storedText(id), loanMs], signal);
    if (spoiled > 0) throw spoiledRecord(id);
    return claims[0];
  }

  /** `values` go before the token and the tokens that were lost. */
  async #lend(statement: Statement, values: readonly unknown[], signal: AbortSignal): Promise<Loans> {
    const { client, clock, random } = this.#parts;
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const loan = random.id();
      this.#lost = this.#lost.filter(({ until }) => until > clock.monotonic());
      const lost = this.#lost.map((one) => one.loan);
      try {
        const { rows, unsure } = await client.query<Lent>({ ...statement, values: [...values, loan, lost] }, signal);
        const records = unsure ? undefined : await this.#contentsOf(rows, signal);
        const spoiled = rows.flatMap((row) => {
          const found = records?.get(row.number);
          return found !== undefined && isUnsound(found) ? { ...row, ...found.unsound } : [];
        });
        if (spoiled.length > 0) await this.#setAside(spoiled, loan, signal);
        // Whoever gave up in this very moment does not get them.
        signal.throwIfAborted();
        if (records !== undefined) return { claims: claimsOf(rows, records, loan), spoiled: spoiled.length };
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

  /** Others may find out for themselves, and lend what comes after them. */
  async #setAside(lent: readonly (Lent & Written)[], loan: string, signal: AbortSignal): Promise<void> {
    const ends = lent
      .filter((one) => this.#parts.spoiled.found(one))
      .map(({ place, number, attempts, id }) => {
        const outcome = { kind: "retry", delayMs: 0, attempts } as const;
        return { id: textOf(id), token: tokenOf({ place, number, loan }), outcome };
      });
    // A loan that does not end now lapses.
    if (ends.length > 0) await this.#finishes.add(ends, signal).catch(() => {});
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
  async #contentsOf(lent: readonly Lent[], signal: AbortSignal): Promise<Contents> {
    const { client, contents, claims, spoiled } = this.#parts;
    const records = new Map<number, OutboxRecord | Unsound>();
    const unknown: Lent[] = [];
    for (const one of lent) {
      const record = contents.take(one.number);
      // A server that was put back to an earlier state gives numbers out again.
      if (record === undefined || record.id !== textOf(one.id)) unknown.push(one);
      else records.set(one.number, record);
    }
    if (unknown.length === 0) return records;
    const statement = {
      what: "reading records of the outbox",
      name: "outbox_read",
      text: `SELECT ${CONTENT_COLUMNS}
               FROM unnest($1::uuid[], $2::int8[]) AS g (place, number)
               JOIN ${client.table("outbox_queue")} AS q ON q.place = g.place AND q.number = g.number
               LEFT JOIN ${client.table("outbox_record")} AS r ON r.number = q.number AND r.id = q.id`,
      values: [uuids(unknown.map(({ place }) => placeBytes(place))), int8s(unknown.map(({ number }) => number))],
      endsWhenLate: unknown.length > 1,
    };
    const { items } = claims;
    try {
      const { rows } = await client.query<StoredRow>(statement, signal);
      for (const row of rows) {
        const record = recordOf(row);
        if (record !== undefined) spoiled.over(row.number);
        const { route_id, binding_id, envelope } = row;
        records.set(row.number, record ?? { unsound: { route_id, binding_id, envelope } });
      }
      claims.ended({ items: rows.length, bytes: rows.reduce((sum, { payload }) => sum + payload.length, 0) });
      return records;
    } catch (error) {
      claims.ended({ items: Math.min(items, unknown.length), bytes: 0 }, error);
      throw error;
    }
  }
}

function isUnsound(found: OutboxRecord | Unsound): found is Unsound {
  return "unsound" in found;
}

function claimsOf(lent: readonly Lent[], records: Contents, loan: string): readonly OutboxClaim[] {
  return lent
    .toSorted((a, b) => a.number - b.number)
    .flatMap(({ place, number, attempts }) => {
      const record = records.get(number);
      return record === undefined || isUnsound(record)
        ? []
        : { record, token: tokenOf({ place, number, loan }), attempts };
    });
}
