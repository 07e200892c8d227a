import type { OutboxStatus } from "@bridge/ports";
import { texts } from "./arrays.ts";
import { GroupCommit } from "./group-commit.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { STATUSES } from "./record-rows.ts";
import { storedText, textOf } from "./stored-text.ts";

const GROUP = { items: 1_000, bytes: Infinity } as const;

/** Looks statuses up: those that are asked for at once in one statement. */
export class Statuses {
  readonly #parts: OutboxParts;
  readonly #group = new GroupCommit<string, OutboxStatus | undefined>(GROUP, (calls) => this.#read(calls));
  /** The client bounds each call, and ends it when the store is closed. */
  readonly #signal = new AbortController().signal;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  async of(id: string, signal: AbortSignal): Promise<OutboxStatus | undefined> {
    const [status] = await this.#group.add([id], signal);
    return status;
  }

  async #read(calls: readonly (readonly string[])[]): Promise<readonly (readonly (OutboxStatus | undefined)[])[]> {
    const { client } = this.#parts;
    const { rows } = await client.query<{ id: string; status: number }>(
      {
        what: "looking for records of the outbox",
        name: "outbox_status",
        // Not finished, and deleted by somebody else: nobody knows what became of it.
        text: `SELECT r.id, r.status FROM ${client.table("outbox_record")} AS r WHERE r.id = ANY ($1::text[]) AND (
          r.status <> 0 OR EXISTS (
            SELECT FROM ${client.table("outbox_queue")} AS q WHERE q.place = r.place AND q.number = r.number
          )
        )`,
        values: [texts(calls.flat().map(storedText))],
      },
      this.#signal,
    );
    const found = new Map(rows.map(({ id, status }) => [textOf(id), STATUSES[status]]));
    return calls.map((ids) => ids.map((id) => found.get(id)));
  }
}

/** The pending record that redrives a dead letter. */
export async function redriving(
  { client }: OutboxParts,
  entryId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>(
    {
      what: "looking for what redrives a dead letter",
      text: `SELECT id FROM ${client.table("outbox_queue")} WHERE entry_id = $1 ORDER BY number LIMIT 1`,
      values: [storedText(entryId)],
    },
    signal,
  );
  const [row] = rows;
  return row && textOf(row.id);
}
