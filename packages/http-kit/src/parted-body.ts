import { type ClientMemory, type Holder, processClientMemory } from "@bridge/net-kit";
import type { Clock } from "@bridge/ports";
import type { Slices } from "@bridge/ports/internal";

/** So much text is made before it is handed over; more only when it has been taken. */
const PART_CHARACTERS = 65_536;
/** What was so a minute ago is of no use to anybody, and what it holds would stay as long as somebody takes it slowly. */
const MAX_AGE_MS = 60_000;

export interface PartedBodyOptions {
  /** The text, made anew for each answer. */
  readonly parts: () => Iterable<string>;
  /** What is kept as long as somebody takes it, about. */
  readonly keptBytes: number;
  readonly clock: Clock;
  /** Default: that of all listeners of this process. */
  readonly memory?: ClientMemory | undefined;
}

/** Whoever takes an answer. */
export interface Taker {
  /** So many bytes are handed over now. */
  readonly expect: (bytes: number) => void;
  /** Ends the connection, because the rest does not come. Absent without one: the answer fails. */
  readonly cut?: (() => void) | undefined;
  /** The text could not be made to its end. */
  readonly failed: (error: unknown) => void;
}

/**
 * Text that is made while it is taken: of many megabytes no more than a part is there at once. Several answers may be of
 * one; what it keeps for them counts with what is kept for clients, and when that is too much, or after a minute, they are
 * cut.
 */
export class PartedBody implements Holder {
  readonly #options: PartedBodyOptions;
  readonly #memory: ClientMemory;
  readonly #takers = new Set<Taker>();
  #ageing: AbortController | undefined;

  constructor(options: PartedBodyOptions) {
    this.#options = options;
    this.#memory = options.memory ?? processClientMemory;
  }

  /** An answer: all of its bytes when they are no more than a part, else a stream of them. */
  async answer(slices: Slices, who: Taker): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
    const taker = { ...who };
    const text = this.#options.parts()[Symbol.iterator]();
    const end = (): void => {
      text.return?.();
      this.#leave(taker);
    };
    this.#enter(taker);
    try {
      const first = await nextPart(text, slices);
      if (first.last) {
        end();
        return first.bytes;
      }
      return this.#stream(first.bytes, { text, slices, taker, end });
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Ends all answers that are under way. */
  cut(): void {
    for (const taker of this.#takers) {
      this.#leave(taker);
      taker.cut?.();
    }
  }

  #stream(
    first: Uint8Array<ArrayBuffer>,
    { text, slices, taker, end }: { text: Iterator<string>; slices: Slices; taker: Taker; end: () => void },
  ): ReadableStream<Uint8Array> {
    let ready: Part | undefined = { bytes: first, last: false };
    const next = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { bytes, last } = ready ?? (await nextPart(text, slices));
      ready = undefined;
      if (!this.#takers.has(taker)) {
        if (taker.cut === undefined) controller.error(new Error("the answer was cut: it was not taken in time"));
        return;
      }
      taker.expect(bytes.length);
      if (bytes.length > 0) controller.enqueue(bytes);
      if (!last) return;
      end();
      controller.close();
    };
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> =>
      next(controller).catch((error: unknown) => {
        end();
        taker.failed(error);
        if (taker.cut === undefined) controller.error(error);
        else taker.cut();
      });
    // Nothing is made before it is asked for.
    return new ReadableStream({ pull, cancel: end }, { highWaterMark: 0 });
  }

  #enter(taker: Taker): void {
    this.#takers.add(taker);
    if (this.#takers.size > 1) return;
    this.#ageing = new AbortController();
    this.#options.clock.delay(MAX_AGE_MS, this.#ageing.signal).then(
      () => this.cut(),
      () => {},
    );
    this.#memory.keep(this, this.#options.keptBytes);
  }

  #leave(taker: Taker): void {
    if (!this.#takers.delete(taker) || this.#takers.size > 0) return;
    this.#ageing?.abort();
    this.#memory.keep(this, 0);
  }
}

interface Part {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly last: boolean;
}

/** What one slice has time for, but for the last part not nothing: a stream that was given nothing does not ask again. */
async function nextPart(text: Iterator<string>, slices: Slices): Promise<Part> {
  let made = "";
  while (made.length < PART_CHARACTERS) {
    if (slices.over) {
      if (made !== "") break;
      await slices.next();
    }
    const step = text.next();
    if (step.done === true) return { bytes: Buffer.from(made), last: true };
    made += step.value;
  }
  return { bytes: Buffer.from(made), last: false };
}
