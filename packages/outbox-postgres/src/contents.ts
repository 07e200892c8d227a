import type { Envelope, OutboxRecord } from "@bridge/ports";

/** How much of what was persisted here is kept, so that a claim of it need not read it. */
const MAX_RECORDS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Records that this handle has persisted, by their numbers, until they are lent; the oldest go when they are many. */
export class Contents {
  readonly #records = new Map<number, OutboxRecord>();
  #bytes = 0;

  add(number: number, record: OutboxRecord): void {
    this.#records.set(number, record);
    this.#bytes += payloadBytes(record);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_RECORDS && this.#bytes <= MAX_BYTES) break;
      this.take(oldest);
    }
  }

  /** Gives a record out, once: whoever has it may change its bytes. */
  take(number: number): OutboxRecord | undefined {
    const record = this.#records.get(number);
    if (record === undefined) return undefined;
    this.#records.delete(number);
    this.#bytes -= payloadBytes(record);
    return record;
  }
}

/** What the payloads of a record take. */
export function payloadBytes({ envelope, received }: OutboxRecord): number {
  const more = received === undefined || received.payload === envelope.payload ? 0 : received.payload.length;
  return envelope.payload.length + more;
}

/** The same record with bytes of its own: those of a source may change. */
export function ownCopy(record: OutboxRecord): OutboxRecord {
  const { envelope, received } = record;
  const copy = withOwnPayload(envelope);
  if (received === undefined) return { ...record, envelope: copy };
  const same = received.payload === envelope.payload;
  return {
    ...record,
    envelope: copy,
    received: same ? { ...received, payload: copy.payload } : withOwnPayload(received),
  };
}

function withOwnPayload(envelope: Envelope): Envelope {
  return { ...envelope, payload: Buffer.from(envelope.payload) };
}
