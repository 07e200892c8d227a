import type { Clock } from "@bridge/ports";
import { jsonLinesInSlices, type Slices } from "@bridge/ports/internal";
import { MeasuredSlices } from "./measured-slices.ts";
import type { Frame, StreamBody } from "./stream-body.ts";

/** After so much silence there is a sign of life. */
const SILENCE_MS = 15_000;
/** A client that has not asked for more for so long does not read any more, whatever carries the answer. */
const NOT_TAKEN_MS = 60_000;

/**
 * Why a stream has ended, as `bye` says it.
 *
 * - `shutdown`: the server is going to stop.
 * - `key`: the key is none any more, or opens less than it did.
 * - `expired`: it is time to show again who you are; a session that goes on has a newer cookie for that.
 * - `over`: there is nothing more to come.
 * - `failed`: something went wrong; the log says what.
 */
export const STREAM_ENDS = ["shutdown", "key", "expired", "over", "failed"] as const;
export type StreamEnd = (typeof STREAM_ENDS)[number];

export interface OpenStreamOptions {
  readonly stream: StreamBody;
  readonly clock: Clock;
  /** Aborts when the server is going to stop. */
  readonly closing: AbortSignal | undefined;
  /** Why the caller may not see it any more; asked each second. */
  readonly barred: () => StreamEnd | undefined;
  /** Stands between what has happened and what is shown. */
  readonly shown: (data: Iterable<object>, slices: Slices) => Promise<Iterable<object>>;
  /** What carries it to its client. Absent on a carrier that is not ours. */
  readonly carrier: StreamCarrier | undefined;
  /** So many of its events are not shown. */
  readonly lost: (count: number) => void;
  /** It could not be made to its end. */
  readonly failed: (error: unknown) => void;
  /** It has ended, in whatever way; called once. */
  readonly ended: () => void;
}

/** The connection of a stream. */
export interface StreamCarrier {
  /** So many bytes are handed over now. */
  readonly expect: (bytes: number) => void;
  /** Ends it at once. */
  readonly cut: () => void;
  /** The last bytes are handed over: ends it unless they are taken soon. */
  readonly hurry: () => void;
}

/**
 * A stream on its way to one client. The client's room is what asks for the next part, so that what is kept for it is one part
 * and what its connection holds, whatever it does.
 */
export class OpenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: OpenStreamOptions;
  readonly #cancelled = new AbortController();
  readonly #onClosing = (): void => this.end("shutdown");
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #parts: AsyncIterator<Uint8Array> | undefined;
  #isAsking = false;
  #ready: Uint8Array | undefined;
  /** Resolves the call of a client that has room. */
  #hasRoom: (() => void) | undefined;
  /** Monotonic milliseconds: when something was handed over last, and until when there was room. */
  #sentAt: number;
  #ended = false;

  constructor(options: OpenStreamOptions) {
    this.#options = options;
    this.#sentAt = options.clock.monotonic();
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#pulled(),
        cancel: () => this.#finish(),
      },
      { highWaterMark: 0 },
    );
  }

  /** From now on it ends with its server; at once, when that is closing already. */
  begin(): void {
    const { closing } = this.#options;
    if (closing?.aborted === true) this.end("shutdown");
    else closing?.addEventListener("abort", this.#onClosing, { once: true });
  }

  /** Looks whether it may go on, and gives a sign of life if it is time for one. */
  look(): void {
    const why = this.#options.barred();
    if (why !== undefined) {
      this.end(why);
      return;
    }
    const silentMs = this.#options.clock.monotonic() - this.#sentAt;
    const { sign } = this.#options.stream;
    if (this.#hasRoom !== undefined && silentMs >= SILENCE_MS && sign !== undefined) this.#send(sign);
    else if (this.#hasRoom === undefined && silentMs >= NOT_TAKEN_MS) this.#stop();
  }

  /** Ends it with its last bytes. A client that does not take them is cut, and one that has not got all where there are none. */
  end(why: StreamEnd): void {
    if (this.#ended) return;
    const last = this.#options.stream.bye(why);
    if (last === undefined && why !== "over") {
      this.#stop();
      return;
    }
    this.#finish();
    if (last !== undefined) this.#controller?.enqueue(last);
    this.#controller?.close();
    this.#hasRoom?.();
    if (last !== undefined) this.#options.carrier?.hurry();
  }

  #pulled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#hasRoom = resolve;
    const { stream, lost } = this.#options;
    const isFirst = this.#parts === undefined;
    this.#parts ??= stream.parts((data, frame) => this.#show(data, frame), this.#cancelled.signal, lost);
    if (isFirst && stream.sign !== undefined) this.#send(stream.sign);
    else if (this.#ready === undefined) this.#ask(this.#parts);
    else this.#send(this.#ready);
    return promise;
  }

  #ask(parts: AsyncIterator<Uint8Array>): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    parts.next().then(
      ({ done, value }) => {
        this.#isAsking = false;
        if (done === true) this.end("over");
        else if (!this.#ended) {
          this.#ready = value;
          if (this.#hasRoom !== undefined) this.#send(value);
        }
      },
      (error: unknown) => {
        if (this.#ended) return;
        this.#options.failed(error);
        this.end("failed");
      },
    );
  }

  async #show(data: Iterable<object>, frame: Frame): Promise<Uint8Array> {
    const { clock, shown, stream } = this.#options;
    const slices = new MeasuredSlices(clock, stream.sliceMs);
    // What has come was looked through in the turn before.
    await slices.next();
    const text = await jsonLinesInSlices(await shown(data, slices), frame, slices);
    stream.used?.(slices.use);
    return text;
  }

  #send(bytes: Uint8Array): void {
    if (this.#ended) return;
    if (bytes === this.#ready) this.#ready = undefined;
    this.#sentAt = this.#options.clock.monotonic();
    this.#options.carrier?.expect(bytes.length);
    const resolve = this.#hasRoom;
    this.#hasRoom = undefined;
    this.#controller?.enqueue(bytes);
    resolve?.();
  }

  /** Ends it without a word, for nobody hears it. */
  #stop(): void {
    const { carrier } = this.#options;
    this.#finish();
    if (carrier === undefined) this.#controller?.error(new Error("the stream was ended: it was not read"));
    else carrier.cut();
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#ready = undefined;
    this.#options.closing?.removeEventListener("abort", this.#onClosing);
    this.#cancelled.abort(new Error("the stream has ended"));
    // What it holds is let go of by the signal; nobody waits for that.
    this.#parts?.return?.().catch(() => {});
    this.#options.ended();
  }
}
