import { BridgeError, type Clock, type Logger } from "@bridge/ports";
import { failure, messageOf } from "./failure.ts";
import { kindOf } from "@bridge/ports/internal";
import type { Source } from "./source-definition.ts";
import { readYielded, type Yielded } from "./yielded.ts";

/** An iterable has this long for its end, so that what it has open can be closed. */
const RETURN_TIMEOUT_MS = 1_000;

/** Somebody who waits for a message of a source. */
export interface FeedReader {
  give(yielded: Yielded): void;
  fail(error: unknown): void;
}

/** One iteration of a source. */
interface Run {
  readonly iterator: AsyncIterator<unknown>;
  readonly controller: AbortController;
  asked: boolean;
  /** It has ended by itself: nothing more comes. */
  over: boolean;
}

/** What a source has yielded: asks for one message at a time, and keeps what was handed back. */
export class Feed {
  readonly name: string;
  readonly who: string;
  readonly #source: Source;
  /** Handed back, or yielded when nobody waited any more; these come first. */
  readonly #kept: Yielded[] = [];
  #waiting: FeedReader[] = [];
  /** The receivers that read it. */
  readonly #users = new Set<object>();
  #run: Run | undefined;
  /** The last iterator, when it did not end by itself. Who gets the same one again can expect nothing of it. */
  #spent: { readonly iterator: object; readonly why: string } | undefined;

  constructor(name: string, source: Source) {
    this.name = name;
    this.who = `source "${name}"`;
    this.#source = source;
  }

  /** `user` reads it until it ends it. */
  use(user: object): void {
    this.#users.add(user);
  }

  /** `reader` gets the next message. */
  wait(reader: FeedReader, logger: Logger): void {
    this.#waiting.push(reader);
    this.#pump(logger);
  }

  /** `reader` waits no more. */
  leave(reader: FeedReader): void {
    this.#waiting = this.#waiting.filter((other) => other !== reader);
  }

  /** Messages that were handed out and are not settled come again, before all others. */
  handBack(messages: readonly Yielded[], logger: Logger): void {
    this.#kept.unshift(...messages);
    this.#pump(logger);
  }

  /**
   * `user` reads it no more. The last one ends the iteration, and waits a second at most: an iterable may be in the middle of
   * something.
   */
  async end(user: object, clock: Clock, logger: Logger): Promise<void> {
    this.#users.delete(user);
    const run = this.#run;
    if (this.#users.size > 0 || run === undefined) return;
    this.#run = undefined;
    if (run.over) return;
    this.#spent = { iterator: run.iterator, why: "a stop has ended it" };
    run.controller.abort(new BridgeError("CONNECTION_LOST", `${this.who} is read no more`));
    const waited = new AbortController();
    const late = clock.delay(RETURN_TIMEOUT_MS, waited.signal).then(() => {
      throw new Error(`it is still at work after ${RETURN_TIMEOUT_MS} ms; let it heed its signal`);
    });
    try {
      await Promise.race([returned(run.iterator), late]);
    } catch (thrown) {
      logger.warn("source did not end as it should", { source: this.name, error: messageOf(thrown) });
    } finally {
      waited.abort();
      late.catch(() => {});
    }
  }

  #pump(logger: Logger): void {
    while (this.#waiting.length > 0) {
      const yielded = this.#kept.shift();
      if (yielded === undefined) return this.#ask(logger);
      this.#waiting.shift()?.give(yielded);
    }
  }

  #ask(logger: Logger): void {
    if (this.#run?.asked === true) return;
    try {
      const run = (this.#run ??= this.#begin());
      if (!run.over) void this.#next(run, logger);
    } catch (thrown) {
      this.#fail(thrown, logger);
    }
  }

  #begin(): Run {
    const controller = new AbortController();
    const iterable: unknown = this.#source.begin({ signal: controller.signal });
    const iterator = iteratorOf(this.who, iterable);
    if (iterator === this.#spent?.iterator) {
      throw new Error(
        `${this.who} cannot begin again: ${this.#spent.why}; give source() a function that makes a new one`,
      );
    }
    return { iterator, controller, asked: false, over: false };
  }

  async #next(run: Run, logger: Logger): Promise<void> {
    run.asked = true;
    let yielded: Yielded | undefined;
    try {
      const result: unknown = await run.iterator.next();
      yielded = this.#read(result);
    } catch (thrown) {
      if (this.#run === run) this.#fail(thrown, logger);
      return;
    } finally {
      run.asked = false;
    }
    if (yielded === undefined) {
      run.over = true;
      if (this.#run === run) logger.info("source ended: nothing more comes from it", { source: this.name });
      return;
    }
    this.#kept.push(yielded);
    this.#pump(logger);
  }

  /** `undefined` at the end. */
  #read(result: unknown): Yielded | undefined {
    if (typeof result !== "object" || result === null) {
      throw new TypeError(`${this.who} is no async iterable: its next() gave ${kindOf(result)}`);
    }
    const { done, value } = result as { readonly done?: unknown; readonly value?: unknown };
    return done ? undefined : readYielded(this.who, this.name, value);
  }

  #fail(thrown: unknown, logger: Logger): void {
    const error = failure(this.who, thrown);
    const run = this.#run;
    this.#run = undefined;
    if (run !== undefined) {
      this.#spent = { iterator: run.iterator, why: `it has failed with ${messageOf(error)}` };
      run.controller.abort(error);
    }
    const waiting = this.#waiting.splice(0);
    if (waiting.length === 0) logger.warn("source failed", { source: this.name, error: messageOf(error) });
    for (const reader of waiting) reader.fail(error);
  }
}

function iteratorOf(who: string, iterable: unknown): AsyncIterator<unknown> {
  if (typeof iterable !== "object" || iterable === null || !(Symbol.asyncIterator in iterable)) {
    const remedy = kindOf(iterable) === "a Promise" ? ": make it an async generator, async function*" : "";
    throw new TypeError(`${who} is a function that returned ${kindOf(iterable)}, not an async iterable${remedy}`);
  }
  const made: unknown = (iterable as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  if (typeof made === "object" && made !== null && "next" in made && typeof made.next === "function") {
    return made as AsyncIterator<unknown>;
  }
  throw new TypeError(`${who} is no async iterable: its iterator is ${kindOf(made)}, without next()`);
}

async function returned(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}
