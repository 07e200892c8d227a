import { BridgeError, type LeaseRecord, type Logger, type Seams } from "@bridge/ports";
import type { Lease } from "./lease.ts";
import type { LeaseCount } from "./lease-counts.ts";
import { LeaseLost } from "./lease-lost.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { Patience } from "./patience.ts";
import type { LeaseWriter } from "./lease-writer.ts";
import { type Instant, instantOf, Term } from "./term.ts";

/** How long closing may take before the lease is released all the same. */
const CLOSE_CEILING_MS = 5_000;
/** A release that takes longer is given up: the lease then ends with its ttl. */
const RELEASE_TIMEOUT_MS = 3_000;
const RELEASE_TRIES = 2;
/** How long stepping down may take. */
export const STEP_DOWN_PARTS = { closing: CLOSE_CEILING_MS, releasing: RELEASE_TIMEOUT_MS * RELEASE_TRIES } as const;
/** The shortest pause between looks at a lease. */
const MIN_PAUSE_MS = 10;

/** Fractions of the ttl. A failed renewal is retried; the holder steps down while others still have to wait. */
const RENEW_EVERY = 1 / 4;
const STEP_DOWN_AFTER = 3 / 4;
const ASK_WITHIN = 1 / 4;
const TRY_AGAIN_AFTER = 1 / 20;

interface LeaseTiming {
  readonly leaseTtlMs: number;
  /** How often a waiting instance looks. */
  readonly leasePollIntervalMs: number;
}

export interface LeaseKeeperOptions extends Pick<Seams, "clock"> {
  readonly lease: Lease;
  readonly writer: LeaseWriter;
  /** Identifies this process among all: instance id and nonce. */
  readonly holder: string;
  /** As configured now. */
  readonly timing: () => LeaseTiming;
  readonly count: LeaseCount;
  readonly logger: Logger;
}

/** The lease as this process last wrote it, and when that write began. */
interface Held {
  readonly record: LeaseRecord;
  readonly startedAt: Instant;
}

/** How a holding ended, and what the store may now hold. */
interface Ending {
  readonly why: "stopped" | "lapsed" | "silent" | "taken" | "yielded";
  readonly record: LeaseRecord;
}

/**
 * Acquires one lease, keeps it and gives it up: the whole algorithm (docs/adr/0031-leases.md).
 *
 *     waiting ──► holding ──► stepping down ──► taking it back ──► holding …
 *        ▲  ▲        │                                │
 *  (start)  └────────┴ yielding                       └──► lost: the process has to end
 *
 * The holder measures every duration by its monotonic clock, from before a write began; those who wait measure from
 * after they read it. A term also ends when the time of day says that it is over ({@link Term}).
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #watch: LeaseWatch;
  readonly #patience: Patience;
  #beat = 0;
  #reachable = true;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#watch = new LeaseWatch(options.holder);
    this.#patience = new Patience(options.lease);
  }

  /** Keeps the lease until `signal` aborts, then releases it. @throws LeaseLost when it is lost for good */
  async run(signal: AbortSignal): Promise<void> {
    const { lease } = this.#options;
    try {
      let held = await this.#acquire(signal);
      while (held !== undefined) {
        const term = this.#begin(held);
        const ending = await this.#hold(term, held, signal);
        await this.#stepDown(term, ending);
        if (signal.aborted) return;
        held = await (ending.why === "yielded" ? this.#acquire(signal) : this.#takeBack(ending, signal));
      }
    } finally {
      lease.term?.end();
      lease.seenElsewhere(false);
    }
  }

  /** Waits until the lease is free, even while the store is out of reach; `undefined` when `signal` aborts. */
  async #acquire(signal: AbortSignal): Promise<Held | undefined> {
    while (!signal.aborted) {
      const { leasePollIntervalMs } = this.#options.timing();
      const found = await this.#look(signal, (token) => this.#patience.looksLeftTo(token) * leasePollIntervalMs);
      if (typeof found === "object") return found;
      await this.#pause(Math.min(leasePollIntervalMs, found ?? leasePollIntervalMs), signal);
    }
    return undefined;
  }

  /** Takes the lease if possible. Otherwise returns how long it must wait, in milliseconds: `undefined` if that is unknown. */
  async #look(signal: AbortSignal, standBackMs?: (token: number) => number): Promise<Held | number | undefined> {
    const { writer, clock, lease, holder, timing } = this.#options;
    const { leaseTtlMs } = timing();
    const boundMs = leaseTtlMs * ASK_WITHIN;
    try {
      const there = await writer.read(boundMs, signal);
      const now = clock.monotonic();
      const waitMs = this.#watch.waitFor(there, now, there && standBackMs?.(there.token));
      lease.seenElsewhere(this.#watch.heldElsewhere(now));
      this.#reached();
      if (waitMs > 0) return waitMs;
      const startedAt = instantOf(clock);
      const record = { holder, token: (there?.token ?? 0) + 1, beat: ++this.#beat, ttlMs: leaseTtlMs };
      const written = await writer.write(there, record, boundMs, signal);
      return written.made ? { record, startedAt } : undefined;
    } catch (thrown) {
      if (signal.aborted) return undefined;
      if (!this.#watch.heldElsewhere(clock.monotonic())) lease.seenElsewhere(false);
      this.#unreachable(thrown);
      return undefined;
    }
  }

  #begin({ record, startedAt }: Held): Term {
    const { lease, clock, count, logger } = this.#options;
    const term = new Term(clock, record.token, startedAt, record.ttlMs);
    count.acquisitions++;
    logger.info("lease acquired", { token: record.token, ttl_ms: record.ttlMs });
    this.#patience.begin(clock.monotonic());
    lease.taken(term);
    return term;
  }

  /** Renews until that fails, `signal` aborts, or the session has been disconnected for too long. */
  async #hold(term: Term, held: Held, signal: AbortSignal): Promise<Ending> {
    const { clock, logger } = this.#options;
    const alive = AbortSignal.any([signal, term.signal]);
    let last = held;
    for (;;) {
      await this.#untilRenewal(term, last, alive);
      if (signal.aborted) return { why: "stopped", record: last.record };
      if (!term.live) return { why: "lapsed", record: last.record };
      const renewed = await this.#renew(last, alive);
      if ("why" in renewed) {
        if (signal.aborted) return { ...renewed, why: "stopped" };
        return term.ended ? { ...renewed, why: "lapsed" } : renewed;
      }
      last = renewed;
      term.renew(last.startedAt, last.record.ttlMs);
      const goneMs = this.#patience.spent(clock.monotonic(), last.record.ttlMs);
      if (goneMs === undefined) continue;
      logger.warn("lease yielded: its session is not connected, and another instance may do better", {
        token: term.token,
        not_connected_ms: Math.round(goneMs),
      });
      return { why: "yielded", record: last.record };
    }
  }

  /** Waits a quarter of the ttl, or less if somebody needs a term that lasts longer. */
  async #untilRenewal(term: Term, { startedAt, record }: Held, alive: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const sooner = new AbortController();
    const regular = this.#pause(
      startedAt.monotonic + record.ttlMs * RENEW_EVERY - clock.monotonic(),
      AbortSignal.any([alive, sooner.signal]),
    );
    await Promise.race([regular, term.wanted]);
    sooner.abort();
    await this.#pause(startedAt.monotonic + record.ttlMs * TRY_AGAIN_AFTER - clock.monotonic(), alive);
  }

  /** Retries until the lease is renewed, another instance has it, or it is time to step down. */
  async #renew({ record: last, startedAt: lastStart }: Held, alive: AbortSignal): Promise<Held | Ending> {
    const { writer, clock, holder, timing, count } = this.#options;
    const stepDownAt = lastStart.monotonic + last.ttlMs * STEP_DOWN_AFTER;
    let expected = last;
    // A holder that was held up until late, but not too late, still tries once.
    for (let leastMs = last.ttlMs * TRY_AGAIN_AFTER; ; leastMs = 0) {
      const startedAt = instantOf(clock);
      const boundMs = Math.min(last.ttlMs * ASK_WITHIN, Math.max(leastMs, stepDownAt - startedAt.monotonic));
      if (boundMs <= 0 || alive.aborted) return { why: "silent", record: expected };
      const next = { holder, token: last.token, beat: ++this.#beat, ttlMs: timing().leaseTtlMs };
      try {
        const written = await writer.write(expected, next, boundMs, alive);
        this.#reached();
        if (written.made) return { record: next, startedAt };
        const { there } = written;
        if (there?.holder !== holder || there.token !== last.token) return { why: "taken", record: expected };
        // What a former try of ours has written after we had given it up.
        expected = there;
      } catch (thrown) {
        if (alive.aborted) continue;
        count.failures++;
        this.#unreachable(thrown);
      }
      await this.#pause(last.ttlMs * TRY_AGAIN_AFTER, alive);
    }
  }

  /** Ends the term, waits until everything under it is closed, and frees the lease for others. */
  async #stepDown(term: Term, { why, record }: Ending): Promise<void> {
    const { logger, count } = this.#options;
    if (why === "yielded") {
      count.yields++;
      this.#patience.yielded(term.token);
    } else if (why !== "stopped") {
      count.losses++;
      logger.error("lease lost: stepping down", { token: term.token, why: WORDS[why] });
    }
    term.end();
    // Another instance has it: there is nothing to release, and no time to lose.
    if (why === "taken") return;
    if (!(await this.#closed(term))) {
      logger.warn("lease not released: what was open under it did not close in time", { token: term.token });
      return;
    }
    await this.#release(record);
  }

  async #closed(term: Term): Promise<boolean> {
    const ceiling = new AbortController();
    const late = this.#pause(CLOSE_CEILING_MS, ceiling.signal).then(() => false);
    const closed = await Promise.race([term.whenIdle.then(() => true), late]);
    ceiling.abort();
    return closed;
  }

  /** Does nothing if another instance has taken the lease. */
  async #release(last: LeaseRecord): Promise<void> {
    const { writer, holder, logger } = this.#options;
    const never = new AbortController().signal;
    let expected = last;
    try {
      for (let tries = 0; tries < RELEASE_TRIES; tries++) {
        const released = { ...expected, holder: "", beat: ++this.#beat };
        const written = await writer.write(expected, released, RELEASE_TIMEOUT_MS, never);
        if (written.made) logger.info("lease released", { token: last.token });
        if (written.made || written.there?.holder !== holder || written.there.token !== last.token) return;
        expected = written.there;
      }
    } catch (thrown) {
      const { code, message } = BridgeError.from(thrown);
      logger.warn("lease not released: it lapses by itself", { token: last.token, code, error: message });
    }
  }

  /**
   * Tries for one ttl to get the lost lease back.
   * @throws LeaseLost when another instance holds it, or the store stays out of reach
   */
  async #takeBack({ why, record }: Ending, signal: AbortSignal): Promise<Held | undefined> {
    const { clock, lease, timing } = this.#options;
    if (why === "taken") throw new LeaseLost(lease.sessionId, "another instance holds it");
    const until = clock.monotonic() + record.ttlMs;
    while (!signal.aborted) {
      const found = await this.#look(signal);
      if (typeof found === "object") return found;
      if (found !== undefined) throw new LeaseLost(lease.sessionId, "another instance holds it");
      if (clock.monotonic() >= until) throw new LeaseLost(lease.sessionId, "the lease store cannot be reached");
      await this.#pause(Math.min(timing().leasePollIntervalMs, record.ttlMs * TRY_AGAIN_AFTER), signal);
    }
    return undefined;
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0) return;
    await this.#options.clock.delay(Math.max(MIN_PAUSE_MS, ms), signal).catch(() => {});
  }

  #unreachable(thrown: unknown): void {
    const { logger, lease } = this.#options;
    const { code, message } = BridgeError.from(thrown);
    if (!this.#reachable) return;
    this.#reachable = false;
    logger.warn("lease store out of reach: tried again", { code, error: message, held: lease.held });
  }

  #reached(): void {
    if (!this.#reachable) this.#options.logger.info("lease store in reach again");
    this.#reachable = true;
  }
}

const WORDS: Readonly<Record<Exclude<Ending["why"], "stopped" | "yielded">, string>> = {
  lapsed: "it was not renewed in time: the process stood still, or its event loop was held up",
  silent: "it could not be renewed",
  taken: "another instance has taken it",
};
