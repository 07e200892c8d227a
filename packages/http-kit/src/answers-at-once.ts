import type { Clock } from "@bridge/ports";
import { deadline, Slots } from "@bridge/ports/internal";
import type { Endpoint } from "./endpoint.ts";
import { HttpError } from "./http-error.ts";

/**
 * Of each endpoint. A page of a thousand entries is some megabytes of heap until it is bytes, and more at once would be
 * ready no sooner: two, so that one that waits for its store does not hold up the others.
 */
const AT_ONCE = 2;
/** A client that has waited for so long has most likely given up. */
const WAIT_MS = 30_000;

/** Whether answers of this row wait for their turn. */
export function takesTurns({ method, access, isShared, stream }: Endpoint): boolean {
  return method === "GET" && access !== "open" && isShared !== true && stream === undefined;
}

/** How many answers of an endpoint are made at once. Others wait for their turn, in the order in which they came. */
export class AnswersAtOnce {
  readonly #clock: Clock;
  readonly #slots = new Map<string, Slots>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The turn of one answer, which has not come yet. */
  turn(row: Endpoint | undefined): AnswerTurn {
    if (row === undefined || !takesTurns(row)) return new AnswerTurn(this.#clock, undefined);
    let slots = this.#slots.get(row.path);
    if (slots === undefined) this.#slots.set(row.path, (slots = new Slots(AT_ONCE)));
    return new AnswerTurn(this.#clock, slots);
  }
}

/** Lasts until it is disposed of. */
export class AnswerTurn implements Disposable {
  readonly #clock: Clock;
  readonly #slots: Slots | undefined;
  #taken: Disposable | undefined;

  constructor(clock: Clock, slots: Slots | undefined) {
    this.#clock = clock;
    this.#slots = slots;
  }

  /**
   * Resolves when it has come.
   * @throws HttpError 503 when it did not come in time, or `client` aborted, because nobody takes the answer any more
   */
  async comes(client: () => AbortSignal): Promise<void> {
    if (this.#slots === undefined) return;
    using limit = deadline(this.#clock, WAIT_MS, new Error("too many wait for such an answer"));
    try {
      this.#taken = await this.#slots.take(AbortSignal.any([limit.signal, client()]));
    } catch {
      throw new HttpError(503, `too many ask for this: no turn came within ${WAIT_MS / 1_000} s, try again`, {
        "Retry-After": "5",
      });
    }
  }

  [Symbol.dispose](): void {
    this.#taken?.[Symbol.dispose]();
  }
}
