import { BridgeError, type Clock, type LogFields, type Logger } from "@bridge/ports";
import { isThenable, Slices } from "@bridge/ports/internal";
import { stackOf } from "../route/stack-of.ts";
import type { HookStats } from "../view/stats.ts";
import type { Hook, HookName } from "./bridge-hooks.ts";
import { GatheredLines } from "../gathered-lines.ts";

/** Events that wait for one hook; then the oldest are lost. */
export const QUEUED = 1_000;
/** A call that takes longer is given up. */
export const CALL_MS = 10_000;
/** Calls that were given up and go on: with so many of them, no more are made until one ends. */
const STRAYS = 10;
/** For each part of the event loop that a call has held it rests so many, so that a tenth of it is the most that it gets. */
const REST = 9;
/** What is shorter is no more than other work in a turn. */
const SHORT_MS = 2;
/** What is longer is told. */
const LONG_MS = 100;

export interface HookQueueOptions<Event> {
  readonly name: HookName;
  readonly hook: Hook<Event>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Calls one hook for one event after another, never in the turn of whoever offers one. Whatever the hook does is logged and
 * counted, and goes no further.
 */
export class HookQueue<Event> {
  readonly #options: HookQueueOptions<Event>;
  readonly #lines: GatheredLines;
  readonly #waiting: (() => Event)[] = [];
  readonly #closing = new AbortController();
  readonly #over = new AbortController();
  #working: Promise<void> | undefined;
  #strays = 0;
  #strayEnded = Promise.withResolvers<void>();
  #calls = 0;
  #failures = 0;
  #lost = 0;

  constructor(options: HookQueueOptions<Event>) {
    this.#options = options;
    this.#lines = new GatheredLines(options.clock);
  }

  get stats(): HookStats {
    const { name } = this.#options;
    return { hook: name, calls: this.#calls, failures: this.#failures, lost: this.#lost };
  }

  /** `event` makes it when its turn has come. Never throws, and costs nothing but a place in the queue. */
  offer(event: () => Event): void {
    if (this.#closing.signal.aborted) return;
    if (this.#waiting.length >= QUEUED) {
      this.#waiting.shift();
      this.#lose(1, `${QUEUED} others wait`);
    }
    this.#waiting.push(event);
    this.#working ??= this.#work();
  }

  /** Takes no more events, and has `withinMs` for those that wait. */
  async end(withinMs: number): Promise<void> {
    this.#closing.abort();
    const working = this.#working ?? Promise.resolve();
    const enough = new AbortController();
    const late = this.#options.clock.delay(withinMs, enough.signal).catch(() => {});
    await Promise.race([working, late]);
    enough.abort();
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#lose(left, "the bridge was shut down before their turn");
    this.#over.abort(new Error("the bridge is shut down"));
    this.#lines[Symbol.dispose]();
  }

  async #work(): Promise<void> {
    const slices = new Slices(this.#options.clock);
    await slices.next();
    for (;;) {
      // Before an event is taken, so that it is the oldest ones that are lost.
      while (this.#strays >= STRAYS && !this.#over.signal.aborted) await this.#strayEnded.promise;
      const event = this.#waiting.shift();
      if (event === undefined) break;
      await this.#call(event);
      if (slices.over) await slices.next();
    }
    this.#working = undefined;
  }

  /** Never rejects. */
  async #call(event: () => Event): Promise<void> {
    const { clock, hook } = this.#options;
    const given = new AbortController();
    const startedAt = clock.monotonic();
    let ends: Promise<unknown> | undefined;
    this.#calls++;
    try {
      const returned = hook(event(), { signal: given.signal });
      if (isThenable(returned)) ends = Promise.resolve(returned);
    } catch (thrown) {
      this.#failed(thrown);
    }
    const heldMs = clock.monotonic() - startedAt;
    if (ends !== undefined) await this.#until(ends, given);
    if (heldMs < SHORT_MS) return;
    if (heldMs >= LONG_MS) this.#tell("warn", "a hook held up the whole process", { held_ms: Math.round(heldMs) });
    await clock.delay(heldMs * REST, this.#closing.signal).catch(() => {});
  }

  async #until(ends: Promise<unknown>, given: AbortController): Promise<void> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const stop = (): void => limit.abort();
    this.#over.signal.addEventListener("abort", stop, { once: true });
    let waitedFor = true;
    const ended = ends.then(
      () => "ended" as const,
      (thrown: unknown) => {
        if (waitedFor) this.#failed(thrown);
        return "ended" as const;
      },
    );
    const late = clock.delay(CALL_MS, limit.signal).then(
      () => "late" as const,
      () => "over" as const,
    );
    const first = await Promise.race([ended, late]);
    this.#over.signal.removeEventListener("abort", stop);
    limit.abort();
    if (first === "ended") return;
    waitedFor = false;
    this.#strays++;
    void ended.then(() => this.#strayGone());
    const reason = new BridgeError("TIMEOUT", `did not end within ${CALL_MS} ms`);
    if (first === "late") this.#failed(reason);
    given.abort(first === "late" ? reason : this.#over.signal.reason);
  }

  #strayGone(): void {
    this.#strays--;
    this.#strayEnded.resolve();
    this.#strayEnded = Promise.withResolvers();
  }

  #failed(thrown: unknown): void {
    this.#failures++;
    const { message } = BridgeError.from(thrown);
    const stack = stackOf(thrown);
    this.#tell("error", "a hook failed: nothing else is affected", {
      error: message,
      ...(stack !== undefined && { stack }),
    });
  }

  #lose(events: number, why: string): void {
    this.#lost += events;
    this.#tell("warn", `events of a hook are lost: ${why}`, {}, events);
  }

  #tell(level: "warn" | "error", message: string, fields: LogFields, events = 1): void {
    const { logger, name } = this.#options;
    this.#lines.note(message, (count) => logger[level](message, { hook: name, ...fields, count }), events);
  }
}
