import { OperationError, type Tap, type TappedBatch, type TappedMessage } from "@bridge/core";
import type { PlannedTap } from "../plan/planned-look.ts";
import { changesOf } from "../plan/plan.ts";
import { isStructural } from "../plan/change.ts";
import { EPOCH } from "../model/publication.ts";
import type { Instance } from "./instance.ts";
import { falseOf, numbersOf } from "./told-of-legs.ts";
import type { Settlements } from "./settlements.ts";
import type { World } from "./world.ts";

export interface TapReaderOptions extends World {
  readonly instance: Instance;
  readonly settlements: Settlements;
}

/** What waits for whoever looks, at most. */
const MOST_WAITING = 200;
/** Of payloads, by how much is to be seen. The ones here have a few bytes. */
const SHOWN_BYTES = 1_024;
/** After its time a tap tells once more what it has, and that takes a moment. */
const LATE_MS = 200;
/** By what the instance's clocks are wrong, and some for rounding. */
const DRIFT = 0.02;

/** Looks at a route through a tap, and holds what it is shown against what the edges know. */
export class TapReader {
  readonly #options: TapReaderOptions;
  readonly #planned: PlannedTap;
  readonly #closing = new AbortController();
  #tap: Tap | undefined;
  #openedAt = 0;
  /** By the instance's own time of day. */
  #openedBy = 0;
  #shown = 0;

  constructor(options: TapReaderOptions, planned: PlannedTap) {
    this.#options = options;
    this.#planned = planned;
  }

  open(): void {
    const { instance, time, trace } = this.#options;
    if (this.#closing.signal.aborted) return;
    const routeId = instance.supervisor.config().routes[0]?.id ?? "none";
    trace.add(`somebody looks at ${routeId} of ${instance.name}`);
    try {
      this.#tap = instance.supervisor.tap(routeId, this.#planned.options);
    } catch (error) {
      const isGone = error instanceof OperationError && error.kind === "not_found" && routeId === "none";
      if (!isGone) this.#violated(`is told ${String(error)}`);
      return;
    }
    this.#openedAt = time.now;
    this.#openedBy = instance.clock.now();
    const { readsMs } = this.#planned;
    if (readsMs === undefined) return;
    this.#read(this.#tap, readsMs).catch((error: unknown) => this.#violated(`is told ${String(error)}`));
    this.#endsInTime();
  }

  close(): void {
    this.#closing.abort(new Error("nobody looks any more"));
    const tap = this.#tap;
    this.#tap = undefined;
    if (tap === undefined) return;
    const { instance, trace } = this.#options;
    trace.add(`nobody looks at ${instance.name} any more, who was shown ${tap.shown}, and not shown ${tap.lost}`);
    // Whoever has never taken anything is shown no more than there is room for.
    if (this.#planned.readsMs === undefined) void this.#readOnce(tap);
    else tap[Symbol.dispose]();
  }

  async #readOnce(tap: Tap): Promise<void> {
    const { instance } = this.#options;
    const patience = new AbortController();
    using _ = instance.clock.after(LATE_MS, () => patience.abort());
    const batch = await tap.next(patience.signal);
    if (batch !== undefined && instance.owner.alive) this.#look(tap, batch);
    tap[Symbol.dispose]();
  }

  async #read(tap: Tap, readsMs: number): Promise<void> {
    const { instance } = this.#options;
    const { signal } = this.#closing;
    for (;;) {
      const batch = await tap.next(signal);
      if (!instance.owner.alive) return;
      if (batch === undefined) break;
      this.#look(tap, batch);
      await instance.clock.delay(readsMs, signal).catch(() => {});
    }
    if (!signal.aborted) this.#over();
  }

  #look(tap: Tap, { messages, lost }: TappedBatch): void {
    const { instance, trace, time } = this.#options;
    trace.add(`whoever looks at ${instance.name} is shown ${messages.length}, and told of ${lost} lost`);
    this.#shown += messages.length;
    const { rate = 50 } = this.#planned.options;
    if (messages.length > MOST_WAITING)
      this.#violated(`is shown ${messages.length} at once, which have waited for him`);
    if (lost < 0 || lost > tap.lost) this.#violated(`is told of ${lost} lost, where ${tap.lost} were`);
    const seconds = ((time.now - this.#openedAt) * (1 + DRIFT)) / 1_000;
    if (this.#shown > rate * (1 + seconds) + 1)
      this.#violated(`is shown ${this.#shown} in ${seconds} s, where ${rate} a second are allowed`);
    for (const message of messages) this.#isTrue(message);
    this.#isAll(tap);
  }

  #isTrue(message: TappedMessage): void {
    const { instance } = this.#options;
    const { payload = "none", outcome, subjectPrefix = "" } = this.#planned.options;
    const { legs, envelopeId } = message;
    const about = `of ${envelopeId} that`;
    if (outcome !== undefined && message.outcome !== outcome)
      this.#violated(`is told ${about} it is ${message.outcome}, and asks for ${outcome}`);
    if (!message.subject.startsWith(subjectPrefix))
      this.#violated(`is told ${about} its subject is ${message.subject}`);
    const bytes = message.payload?.length ?? 0;
    if (payload === "none" ? message.payload !== undefined : bytes !== Math.min(message.payloadBytes, SHOWN_BYTES))
      this.#violated(`is shown ${bytes} bytes of ${envelopeId}, of ${message.payloadBytes}`);
    // What a jump of the time of day lies between has another one.
    const hasJumped = this.#options.plan.faults.some(({ kind }) => kind === "jump" || kind === "freeze");
    const latest = Math.min(instance.clock.now(), this.#openedBy + this.#durationMs + LATE_MS);
    if (!hasJumped && (message.at < this.#openedBy || message.at > latest))
      this.#violated(`is told ${about} it was settled ${message.at - EPOCH} ms after the beginning`);
    const numbers = numbersOf(this.#options.plan, message);
    for (const leg of legs) {
      const wrong = numbers && falseOf(this.#options, numbers, leg);
      if (wrong !== undefined) this.#violated(`is told ${about} ${wrong}`);
    }
  }

  /** Each message that the source was told of meanwhile, before its time was over, is shown, or counted as lost. */
  #isAll(tap: Tap): void {
    const { plan, time, settlements, instance } = this.#options;
    const { sample = 1, outcome, subjectPrefix } = this.#planned.options;
    // Where sources confirm, what they were told is shown when they have.
    const atOnce = plan.callers !== undefined || !plan.broker.confirms;
    if (sample > 1 || outcome !== undefined || subjectPrefix !== undefined || !atOnce) return;
    const until = Math.min(time.now, this.#openedAt + this.#durationMs * (1 - DRIFT));
    const told = settlements.of(instance.owner).filter(({ at }) => at > this.#openedAt && at < until);
    if (tap.shown + tap.lost < told.length)
      this.#violated(`was shown ${tap.shown}, and not shown ${tap.lost}, of ${told.length} that were settled`);
  }

  /** It has ended: by its time, or with its route. */
  #over(): void {
    const { instance, time, plan, trace } = this.#options;
    trace.add(`whoever looks at ${instance.name} is told that it is over`);
    const routesStay = plan.documents === undefined && !changesOf(plan).some(isStructural);
    const early = this.#durationMs * (1 - DRIFT) - LATE_MS - (time.now - this.#openedAt);
    if (routesStay && early > 0) this.#violated(`is told that it is over ${early} ms early`);
    this.#tap?.[Symbol.dispose]();
    this.#tap = undefined;
  }

  /** Whoever waits for more does not wait for ever. */
  #endsInTime(): void {
    const { instance, time } = this.#options;
    const { readsMs = 0 } = this.#planned;
    // A reader who comes back late is first given what was left, and hears at the next read that it is over.
    const latest = (this.#durationMs + 2 * readsMs) * (1 + DRIFT) + LATE_MS;
    time.at(time.now + latest, () => {
      const stood = instance.owner.frozen !== undefined || instance.thawedAt > this.#openedAt;
      if (this.#tap !== undefined && instance.owner.alive && !stood)
        this.#violated("waits for more although its time is over");
    });
  }

  get #durationMs(): number {
    return this.#planned.options.durationMs ?? 300_000;
  }

  #violated(words: string): void {
    const { instance, auditor } = this.#options;
    if (instance.owner.alive) auditor.violated(`whoever looks at ${instance.name} ${words}`);
  }
}
