import type { Clock, Envelope, MessageHeaders } from "@bridge/ports";
import type { LegOutcome } from "../route/outcome.ts";
import type { ShownUse, TapAccount, TapShare } from "./tap-share.ts";

/** How many messages, and how many bytes of headers and payloads, a tap keeps for its viewer. */
const KEPT_MESSAGES = 200;
const KEPT_BYTES = 2 * 1_048_576;
/**
 * Messages are handed over in groups, because a handover costs as much as rendering many messages, and the viewer still
 * sees them soon enough. Each tap has a phase of its own, so that those on one route are not all due at once, whenever
 * they began.
 */
const GATHER_MS = 200;
/** Only a few large messages fit: once a handover was large, the next ones come sooner. */
const GATHER_LARGE_MS = 50;
const LARGE_BYTES = KEPT_BYTES / 8;
/** A timer may fire this early. Messages of one period would then be handed over twice, almost none the second time. */
const EARLY_MS = 2;
/** How often the viewer is told how many messages were lost, at most. */
const TELL_LOST_MS = 1_000;
/** How many bytes of a payload are copied. */
const PAYLOAD_BYTES = { none: 0, preview: 1_024, full: 65_536 } as const;

export interface TapOptions {
  /** Takes one message in this many. Default: 1. */
  readonly sample?: number | undefined;
  /** The most messages a second; a burst may take one second's worth. Default: 50. */
  readonly rate?: number | undefined;
  /** When it ends by itself, in milliseconds. Default: 5 minutes. */
  readonly durationMs?: number | undefined;
  /** How much of each payload is copied: nothing, the first KiB, or the first 64 KiB. Default: nothing. */
  readonly payload?: keyof typeof PAYLOAD_BYTES | undefined;
  /** Only messages with this outcome. Default: all. */
  readonly outcome?: LegOutcome["disposition"] | undefined;
  readonly subjectPrefix?: string | undefined;
}

/** What became of a message at one binding. */
export interface TappedLeg {
  readonly bindingId: string;
  readonly outcome: LegOutcome["disposition"];
  /** Charged sends, including those before the message came here; 0 if none was tried here. */
  readonly attempts: number;
  /** Milliseconds since the receipt. */
  readonly ms: number;
}

/** A message that has been settled. */
export interface SettledMessage {
  readonly received: Envelope;
  readonly outcome: LegOutcome["disposition"];
  readonly legs: readonly TappedLeg[];
  readonly ms: number;
}

/** What is shown of a message: a copy, so that nothing received is kept alive. */
export interface TappedMessage {
  /** When it was settled, in epoch milliseconds. */
  readonly at: number;
  readonly envelopeId: string;
  readonly subject: string;
  readonly contentType: string;
  readonly headers: MessageHeaders;
  readonly payloadBytes: number;
  /** `undefined` unless payloads are copied. */
  readonly payload: Uint8Array | undefined;
  readonly outcome: LegOutcome["disposition"];
  readonly legs: readonly TappedLeg[];
  readonly ms: number;
}

/** What has arrived since the last batch. */
export interface TappedBatch {
  readonly messages: readonly TappedMessage[];
  /** Messages that matched but are missing: there were too many, or the viewer was too slow. */
  readonly lost: number;
}

interface WholeTapOptions extends Pick<TapOptions, "outcome" | "subjectPrefix"> {
  readonly sample: number;
  readonly rate: number;
  readonly payload: keyof typeof PAYLOAD_BYTES;
}

/** One viewer of what a route settles. The route never waits for it; messages without room are counted. */
export class Tap implements Disposable {
  readonly #options: WholeTapOptions;
  readonly #clock: Clock;
  readonly #share: TapShare;
  readonly #account: TapAccount;
  readonly #leave: (tap: Tap) => void;
  readonly #phaseMs: number;
  readonly #endsAt: number;
  #kept: TappedMessage[] = [];
  #keptBytes = 0;
  #handedOver = 0;
  #handedOverBytes = 0;
  #seen = 0;
  #tokens: number;
  #filledAt: number;
  #lost = 0;
  #toldAt: number;
  #restsUntil: number;
  #keptAtRest = KEPT_MESSAGES;
  #wake: (() => void) | undefined;
  #ended = false;
  /** Messages handed over so far, and messages lost so far. */
  shown = 0;
  lost = 0;

  constructor(options: TapOptions, clock: Clock, share: TapShare, leave: (tap: Tap) => void) {
    const { sample = 1, rate = 50, durationMs = 300_000, payload = "none", outcome, subjectPrefix } = options;
    this.#options = { sample, rate, payload, outcome, subjectPrefix };
    this.#clock = clock;
    this.#share = share;
    this.#leave = leave;
    const now = clock.monotonic();
    this.#account = share.account(now);
    this.#phaseMs = share.nextPhase() * GATHER_MS;
    this.#endsAt = now + durationMs;
    this.#tokens = rate;
    this.#filledAt = now;
    this.#toldAt = now;
    this.#restsUntil = now;
    share.open++;
  }

  /** The route has settled a message; `now` in monotonic milliseconds. */
  settled(message: SettledMessage, now: number): void {
    // Otherwise a slow viewer would keep receiving late messages and never see the end.
    if (now >= this.#endsAt) return;
    const { sample, outcome, subjectPrefix = "" } = this.#options;
    if (outcome !== undefined && message.outcome !== outcome) return;
    if (!message.received.subject.startsWith(subjectPrefix)) return;
    if (this.#seen++ % sample !== 0) return;
    if (!this.#hasToken(now) || !this.#keep(message, now)) {
      this.#lost++;
      this.lost++;
    }
    this.#wake?.();
  }

  /** Resolves with what has arrived, once there is something; `undefined` when the tap is over or `signal` aborts. */
  async next(signal: AbortSignal): Promise<TappedBatch | undefined> {
    while (!this.#ended && !signal.aborted && this.#leftMs > 0) {
      // A batch of losses alone waits, too, until it is due.
      if (this.#kept.length === 0 && this.#lost === 0) await this.#something(signal);
      if (this.#ended || signal.aborted) break;
      // Wait for more: together they cost less.
      const waitMs = Math.max(this.#gatherMs, this.#restsUntil - this.#clock.monotonic());
      await this.#clock.delay(Math.max(0, Math.min(waitMs, this.#leftMs)), signal).catch(() => {});
      if (this.#ended) break;
      const lost = this.#lostToTell();
      if (this.#kept.length > 0 || lost > 0) return this.#take(lost);
    }
    // Hand over, once, what has not been reported yet.
    if (this.#ended || signal.aborted || (this.#lost === 0 && this.#kept.length === 0)) return undefined;
    return this.#take(this.#lost);
  }

  /** Rendering the last batch cost the event loop this much: the next one comes once the share allows it. */
  used(use: ShownUse): void {
    if (this.#ended) return;
    const now = this.#clock.monotonic();
    const rest = this.#account.used(use, this.#handedOver, now);
    this.#restsUntil = now + rest.ms;
    this.#keptAtRest = Math.min(KEPT_MESSAGES, rest.kept);
  }

  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#share.open--;
    this.#kept = [];
    this.#leave(this);
    this.#wake?.();
  }

  get #gatherMs(): number {
    const gatherMs = this.#handedOverBytes < LARGE_BYTES ? GATHER_MS : GATHER_LARGE_MS;
    const leftMs = gatherMs - ((this.#clock.monotonic() + this.#phaseMs) % gatherMs);
    return leftMs < EARLY_MS ? leftMs + gatherMs : leftMs;
  }

  get #leftMs(): number {
    return this.#endsAt - this.#clock.monotonic();
  }

  #hasToken(now: number): boolean {
    const { rate } = this.#options;
    this.#tokens = Math.min(rate, this.#tokens + ((now - this.#filledAt) / 1_000) * rate);
    this.#filledAt = now;
    return this.#tokens >= 1;
  }

  /** Keeps a copy if there is room; returns whether there was. */
  #keep({ received, outcome, legs, ms }: SettledMessage, now: number): boolean {
    if (this.#kept.length >= (now < this.#restsUntil ? this.#keptAtRest : KEPT_MESSAGES)) return false;
    const { id, subject, contentType, headers, payload } = received;
    const copied = Math.min(payload.length, PAYLOAD_BYTES[this.#options.payload]);
    const bytes = this.#keptBytes + sizeOf(headers) + copied;
    if (bytes > KEPT_BYTES) return false;
    this.#tokens--;
    this.#keptBytes = bytes;
    this.#kept.push({
      at: this.#clock.now(),
      envelopeId: id,
      subject,
      contentType,
      headers,
      payloadBytes: payload.length,
      payload: this.#options.payload === "none" ? undefined : Buffer.copyBytesFrom(payload, 0, copied),
      outcome,
      legs,
      ms,
    });
    return true;
  }

  /** Resolves when there is something to report, or the tap is over. */
  async #something(signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const onAbort = (): void => resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    const late = this.#clock.delay(Math.max(0, this.#leftMs), woken.signal).catch(() => {});
    await Promise.race([promise, late]);
    this.#wake = undefined;
    signal.removeEventListener("abort", onAbort);
    woken.abort();
    await late;
  }

  #lostToTell(): number {
    return this.#clock.monotonic() - this.#toldAt >= TELL_LOST_MS ? this.#lost : 0;
  }

  #take(lost: number): TappedBatch {
    const messages = this.#kept;
    this.#kept = [];
    this.#handedOverBytes = this.#keptBytes;
    this.#keptBytes = 0;
    this.#handedOver = messages.length;
    this.shown += messages.length;
    if (lost > 0) {
      this.#toldAt = this.#clock.monotonic();
      this.#lost -= lost;
    }
    return { messages, lost };
  }
}

/** In UTF-16 code units. */
function sizeOf(headers: MessageHeaders): number {
  let size = 0;
  for (const name of Object.keys(headers)) size += name.length + (headers[name]?.length ?? 0);
  return size;
}
