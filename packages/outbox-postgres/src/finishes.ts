import type { ClaimEnd } from "@bridge/ports";
import { float8s, int4s, int8s, texts } from "./arrays.ts";
import { GroupCommit } from "./group-commit.ts";
import { partsOfToken, type TokenParts } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { STATUSES } from "./record-rows.ts";
import { storedText } from "./stored-text.ts";

const GROUP = { items: 2_000, bytes: Infinity } as const;
const PARAMETERS =
  "$1::int4[], $2::int8[], $3::text[], $4::text[], $5::int4[], $6::int4[], $7::float8[], $8::text, $9::float8, $10::float8, $11::float8";
const WORDS = 2 ** 52;

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
    this.#text = `SELECT place FROM ${parts.client.table("outbox_finish")}(${PARAMETERS})`;
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
    const inOrder = [...endings.values()].toSorted((a, b) => a.token.number - b.token.number);
    const entered = inOrder.length === 0 ? new Set<ClaimEnd>() : await this.#enter(inOrder);
    return calls.map((ends) => ends.map((end) => entered.has(end)));
  }

  async #enter(endings: readonly Ending[]): Promise<ReadonlySet<ClaimEnd>> {
    const { client, instances, clock, random } = this.#parts;
    const word = Math.floor(random.next() * WORDS);
    const values = [
      int4s(endings.map(({ token }) => token.lane)),
      int8s(endings.map(({ token }) => token.number)),
      texts(endings.map(({ end }) => storedText(end.id))),
      texts(endings.map(({ token }) => token.loan)),
      int4s(
        endings.map(({ end: { outcome } }) => STATUSES.indexOf(outcome.kind === "retry" ? "pending" : outcome.kind)),
      ),
      int4s(endings.map(({ end: { outcome } }) => (outcome.kind === "retry" ? outcome.attempts : 0))),
      float8s(endings.map(({ end: { outcome } }) => (outcome.kind === "retry" ? outcome.delayMs : 0))),
      instances.name,
      instances.now,
      clock.now(),
      word,
    ];
    const statement = { what: "ending loans of the outbox", name: "outbox_finish", text: this.#text, values };
    const { rows, unsure } = await client.query<{ place: number }>(statement, this.#signal);
    const entered = new Set<ClaimEnd>();
    for (const { place } of rows) {
      const ending = endings[place - 1];
      if (ending !== undefined) entered.add(ending.end);
    }
    if (unsure) await this.#lookFor(endings, word, entered);
    return entered;
  }

  /** An earlier try of the statement may have entered them: each leaves the word of its statement. */
  async #lookFor(endings: readonly Ending[], word: number, entered: Set<ClaimEnd>): Promise<void> {
    const { client } = this.#parts;
    const open = endings.filter(({ end }) => !entered.has(end));
    if (open.length === 0) return;
    const { rows } = await client.query<{ number: number }>(
      {
        what: "looking for ends of loans of the outbox",
        text: `SELECT number FROM ${client.table("outbox_record")} WHERE number = ANY ($1::int8[]) AND word = $3
               UNION ALL
               SELECT q.number
                 FROM unnest($2::int4[], $1::int8[]) AS g (lane, number)
                 JOIN ${client.table("outbox_queue")} AS q ON q.lane = g.lane AND q.number = g.number AND q.word = $3`,
        values: [int8s(open.map(({ token }) => token.number)), int4s(open.map(({ token }) => token.lane)), word],
      },
      this.#signal,
    );
    const numbers = new Set(rows.map(({ number }) => number));
    for (const { end, token } of open) if (numbers.has(token.number)) entered.add(end);
  }
}
