import type { ServerResponse } from "node:http";
import type { Clock } from "@bridge/ports";
import type { Identity } from "./authenticator.ts";
import type { StreamRow } from "./event-stream.ts";
import { OpenStream, type StreamEnd } from "./open-stream.ts";
import { streamCarrier } from "./stream-carrier.ts";
import type { StreamBody } from "./stream-body.ts";
import type { StreamPlace, Streams } from "./streams.ts";
import { veiledEach } from "./veiled-body.ts";

/** Of a caller who cannot be asked again who they are: a stream is to end before long, so that they come again. */
const UNASKED_MS = 5 * 60_000;

/** What our listeners, and other carriers, tell of a request. */
export interface Carried {
  readonly outgoing?: ServerResponse;
  /** Aborts when the listener is going to close. */
  readonly closing?: AbortSignal;
}

export interface StreamGrantOptions {
  readonly streams: Streams;
  readonly row: StreamRow;
  readonly identity: Identity;
  readonly clock: Clock;
}

export interface OpeningOptions {
  readonly carried: Carried;
  readonly veil: () => ((text: string) => string) | undefined;
  readonly failed: (error: unknown) => void;
}

/** What lets one request have a stream. */
export class StreamGrant implements Disposable {
  readonly #streams: Streams;
  readonly #kind: string;
  readonly #place: StreamPlace;
  readonly #identity: Identity;
  readonly #clock: Clock;
  readonly #since: number;
  /** Called when the stream has ended. */
  onEnd: () => void = () => {};

  /** @throws HttpError 503 when there are too many streams */
  constructor({ streams, row, identity, clock }: StreamGrantOptions) {
    this.#streams = streams;
    this.#kind = row.kind;
    this.#place = streams.place(row, identity.caller.name);
    this.#identity = identity;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Begins it. Nothing of it is made before somebody takes the bytes that this returns. */
  open(stream: StreamBody, { carried, veil, failed }: OpeningOptions): ReadableStream<Uint8Array> {
    const streams = this.#streams;
    const open: OpenStream = new OpenStream({
      stream,
      clock: this.#clock,
      closing: carried.closing,
      carrier: streamCarrier(carried.outgoing, this.#clock),
      barred: () => this.#barred(),
      shown: async (data, slices) => {
        const through = veil();
        return through === undefined ? data : slices.run(veiledEach(data, through));
      },
      lost: (count) => streams.lost(this.#kind, count),
      failed,
      ended: () => {
        streams.forget(open);
        this[Symbol.dispose]();
        this.onEnd();
      },
    });
    streams.watch(open);
    open.begin();
    return open.body;
  }

  [Symbol.dispose](): void {
    this.#place[Symbol.dispose]();
  }

  /** Why the stream may not go on: it ends with the key, and with every permission that it was opened with. */
  #barred(): StreamEnd | undefined {
    const { caller, again } = this.#identity;
    if (again === undefined) return this.#clock.monotonic() - this.#since >= UNASKED_MS ? "expired" : undefined;
    const now = again();
    if (typeof now === "string") return now;
    if (now.name !== caller.name) return "key";
    return caller.permissions.every((permission) => now.permissions.includes(permission)) ? undefined : "key";
  }
}
