import type { Envelope, MessageHeaders } from "@bridge/ports";
import type { LegOutcome } from "../route/outcome.ts";

/** Of a payload, by how much of it is to be seen. */
const PAYLOAD_BYTES = { none: 0, preview: 1_024, full: 65_536 } as const;

/** How much of payloads is to be seen. */
export type PayloadShown = keyof typeof PAYLOAD_BYTES;

/** What became of a message for one binding. */
export interface TappedLeg {
  readonly bindingId: string;
  readonly outcome: LegOutcome["disposition"];
  /** Sends that were charged, those before the message came here included; 0 when none was tried here. */
  readonly attempts: number;
  /** From its receipt, in milliseconds. */
  readonly ms: number;
}

/** What is shown of it: a copy, so that nothing of what was received is kept. Others who look have the same one: leave it as it is. */
export interface TappedMessage {
  /** Epoch milliseconds: when it was settled. */
  readonly at: number;
  readonly envelopeId: string;
  readonly subject: string;
  readonly contentType: string;
  readonly headers: MessageHeaders;
  readonly payloadBytes: number;
  /** Absent unless payloads are to be seen. */
  readonly payload?: Uint8Array;
  readonly outcome: LegOutcome["disposition"];
  readonly legs: readonly TappedLeg[];
  readonly ms: number;
}

/** What is known of a message that has been settled. */
export interface Settled {
  readonly received: Envelope;
  readonly outcome: LegOutcome["disposition"];
  readonly legs: readonly TappedLeg[];
  readonly ms: number;
}

/** A message that has been settled, and what those see who look at its route. */
export class SettledMessage {
  readonly settled: Settled;
  readonly #at: number;
  readonly #copies = new Map<PayloadShown, TappedMessage>();
  #headersSize: number | undefined;

  /** `at`: epoch milliseconds. */
  constructor(settled: Settled, at: number) {
    this.settled = settled;
    this.#at = at;
  }

  /** So much of it a copy holds: bytes of its payload, and UTF-16 code units of its headers. */
  sizeOf(shown: PayloadShown): number {
    return this.#copied(shown) + (this.#headersSize ??= sizeOf(this.settled.received.headers));
  }

  /** One copy for all who are shown as much of payloads. */
  copy(shown: PayloadShown): TappedMessage {
    let copy = this.#copies.get(shown);
    if (copy === undefined) this.#copies.set(shown, (copy = this.#made(shown)));
    return copy;
  }

  #made(shown: PayloadShown): TappedMessage {
    const { received, outcome, legs, ms } = this.settled;
    const { id, subject, contentType, headers, payload } = received;
    return {
      at: this.#at,
      envelopeId: id,
      subject,
      contentType,
      headers,
      payloadBytes: payload.length,
      ...(shown !== "none" && { payload: payload.slice(0, this.#copied(shown)) }),
      outcome,
      legs,
      ms,
    };
  }

  #copied(shown: PayloadShown): number {
    return Math.min(this.settled.received.payload.length, PAYLOAD_BYTES[shown]);
  }
}

function sizeOf(headers: MessageHeaders): number {
  let size = 0;
  for (const [name, value] of Object.entries(headers)) size += name.length + value.length;
  return size;
}
