import type { ClaimEnd } from "@bridge/ports";
import { float8s, int4s, int8s, texts, uuids } from "./arrays.ts";
import { GroupCommit } from "./group-commit.ts";
import { partsOfToken, placeBytes, type TokenParts } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { STATUSES } from "./record-rows.ts";
import { storedText } from "./stored-text.ts";

/** What the column takes; somebody may have put that there, and one more would fail with the ends of all others. */
const MOST_ATTEMPTS = 2 ** 31 - 1;
const GROUP = { items: 2_000, bytes: Infinity } as const;
const MARKS = 2 ** 52;

interface Ending {
  readonly end: ClaimEnd;
  readonly token: TokenParts;
}

/** Enters how loans ended: what comes while a write is under way goes together in the next one. */
export class Finishes {
  readonly #parts: OutboxParts;
  readonly #group = new GroupCommit<ClaimEnd, boolean>(GROUP, (calls) => this.#write(calls));
  readonly #text: string;
  /** The client bounds each call, and ends it when the store is closed. */
  readonly #signal = new AbortController().signal;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    const types = "$1::uuid[], $2::int8[], $3::text[], $4::text[], $5::int4[], $6::int4[], $7::float8[], $8::float8";
    this.#text = `SELECT nth FROM ${parts.client.table("outbox_finish")}(${types})`;
  }

  add(ends: readonly ClaimEnd[], signal: AbortSignal): Promise<readonly boolean[]> {
    return this.#group.add(ends, signal);
  }

  async #write(calls: readonly (readonly ClaimEnd[])[]): Promise<readonly (readonly boolean[])[]> {
    const endings = new Map<string, Ending>();
    for (const end of calls.flat()) {
      const token = partsOfToken(end.token);
      // Of several ends of one loan, the first.
      if (token !== undefined && !endings.has(end.token)) endings.set(end.token, { end, token });
    }
    const entered = new Set<ClaimEnd>();
    for (let open = [...endings.values()].toSorted((a, b) => a.token.number - b.token.number); open.length > 0;) {
      // Of a record that was lent here twice, one loan a statement: the mark does not say which of them it has ended.
      const now = new Map(open.map((ending) => [ending.token.number, ending]));
      await this.#enter([...now.values()], entered);
      open = open.filter((ending) => now.get(ending.token.number) !== ending);
    }
    return calls.map((ends) => ends.map((end) => entered.has(end)));
  }

  async #enter(endings: readonly Ending[], entered: Set<ClaimEnd>): Promise<void> {
    const { client, random } = this.#parts;
    const mark = Math.floor(random.next() * MARKS);
    const outcomes = endings.map(({ end }) => end.outcome);
    const values = [
      uuids(endings.map(({ token }) => placeBytes(token.place))),
      int8s(endings.map(({ token }) => token.number)),
      texts(endings.map(({ end }) => storedText(end.id))),
      texts(endings.map(({ token }) => token.loan)),
      int4s(outcomes.map(({ kind }) => STATUSES.indexOf(kind === "retry" ? "pending" : kind))),
      int4s(outcomes.map((outcome) => (outcome.kind === "retry" ? Math.min(outcome.attempts, MOST_ATTEMPTS) : 0))),
      float8s(outcomes.map((outcome) => (outcome.kind === "retry" ? outcome.delayMs : 0))),
      mark,
    ];
    const statement = { what: "ending loans of the outbox", name: "outbox_finish", text: this.#text, values };
    const { rows, unsure } = await client.query<{ nth: number }>(statement, this.#signal);
    for (const { nth } of rows) {
      const ending = endings[nth - 1];
      if (ending !== undefined) entered.add(ending.end);
    }
    if (unsure) await this.#lookFor(endings, mark, entered);
  }

  /** An earlier try of the statement may have entered them: each record keeps the mark of the one that ended its last loan. */
  async #lookFor(endings: readonly Ending[], mark: number, entered: Set<ClaimEnd>): Promise<void> {
    const { client } = this.#parts;
    const open = endings.filter(({ end }) => !entered.has(end));
    if (open.length === 0) return;
    const { rows } = await client.query<{ number: number }>(
      {
        what: "looking for ends of loans of the outbox",
        text: `SELECT g.number
                 FROM unnest($1::uuid[], $2::int8[]) AS g (place, number)
                 LEFT JOIN ${client.table("outbox_record")} AS r ON r.number = g.number
                 LEFT JOIN ${client.table("outbox_queue")} AS q ON q.place = g.place AND q.number = g.number
                WHERE $3::float8 IN (r.mark, q.mark)`,
        values: [
          uuids(open.map(({ token }) => placeBytes(token.place))),
          int8s(open.map(({ token }) => token.number)),
          mark,
        ],
      },
      this.#signal,
    );
    const numbers = new Set(rows.map(({ number }) => number));
    for (const { end, token } of open) if (numbers.has(token.number)) entered.add(end);
  }
}
