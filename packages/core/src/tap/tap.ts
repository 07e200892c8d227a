import type { Clock, Envelope, MessageHeaders } from "@bridge/ports";
import type { LegOutcome } from "../route/outcome.ts";
import type { ShownUse, TapAccount, TapShare } from "./tap-share.ts";

/** What waits for whoever looks: so many messages, with so many bytes of headers and payloads. */
const KEPT_MESSAGES = 200;
const KEPT_BYTES = 2 * 1_048_576;
/**
 * What has come meanwhile is handed over together: to hand over costs as much as the text of many messages, and who looks on sees it soon
 * enough. Each has a phase of its own, so that those who look at one route do not all take up the same moment, whenever they began.
 */
const GATHER_MS = 200;
/** Of large messages there is room for few: they are handed over sooner, once so much of them was handed over. */
const GATHER_LARGE_MS = 50;
const LARGE_BYTES = KEPT_BYTES / 8;
/** A timer may be early by so much: what came then would be handed over twice, and the second time there is next to nothing. */
const EARLY_MS = 2;
/** How often whoever looks is told what they have not seen, at most. */
const TELL_LOST_MS = 1_000;
/** Of a payload, by how much of it is to be seen. */
const PAYLOAD_BYTES = { none: 0, preview: 1_024, full: 65_536 } as const;

export interface TapOptions {
  /** One message in so many. Default: 1. */
  readonly sample?: number | undefined;
  /** Messages a second, at most; of bursts a second's worth. Default: 50. */
  readonly rate?: number | undefined;
  /** After which it ends, in milliseconds. Default: 5 minutes. */
  readonly durationMs?: number | undefined;
  /** How much of payloads is copied: nothing, the first KiB, the first 64 KiB. Default: nothing. */
  readonly payload?: keyof typeof PAYLOAD_BYTES | undefined;
  /** Only messages that have ended so. */
  readonly outcome?: LegOutcome["disposition"] | undefined;
  readonly subjectPrefix?: string | undefined;
}

/** What became of a message for one binding. */
export interface TappedLeg {
  readonly bindingId: string;
  readonly outcome: LegOutcome["disposition"];
  /** Sends that were charged, those before the message came here included; 0 when none was tried here. */
  readonly attempts: number;
  /** From its receipt, in milliseconds. */
  readonly ms: number;
}

/** A message that has been settled. */
export interface SettledMessage {
  readonly received: Envelope;
  readonly outcome: LegOutcome["disposition"];
  readonly legs: readonly TappedLeg[];
  readonly ms: number;
}

/** What is shown of it: a copy, so that nothing of what was received is kept. */
export interface TappedMessage {
  /** Epoch milliseconds: when it was settled. */
  readonly at: number;
  readonly envelopeId: string;
  readonly subject: string;
  readonly contentType: string;
  readonly headers: MessageHeaders;
  readonly payloadBytes: number;
  /** `undefined` unless payloads are to be seen. */
  readonly payload: Uint8Array | undefined;
  readonly outcome: LegOutcome["disposition"];
  readonly legs: readonly TappedLeg[];
  readonly ms: number;
}

/** What has come since the last time. */
export interface TappedBatch {
  readonly messages: readonly TappedMessage[];
  /** Messages that were to be seen and are not: there were too many, or they were taken too slowly. */
  readonly lost: number;
}

interface WholeTapOptions extends Pick<TapOptions, "outcome" | "subjectPrefix"> {
  readonly sample: number;
  readonly rate: number;
  readonly payload: keyof typeof PAYLOAD_BYTES;
}

/** Somebody who looks at what a route settles. The route waits for nothing here, and what there is no room for is counted. */
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
  /** Messages that were handed over, and those that were not, so far. */
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

  /** A message of the route was settled, at `now` in monotonic milliseconds. */
  settled(message: SettledMessage, now: number): void {
    // Else one who takes what came too late each time would never hear that it is over.
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

  /** What has come, as soon as something has; `undefined` when it is over, or `signal` aborts. */
  async next(signal: AbortSignal): Promise<TappedBatch | undefined> {
    while (!this.#ended && !signal.aborted && this.#leftMs > 0) {
      // Losses alone wait here too, until it is time to tell of them.
      if (this.#kept.length === 0 && this.#lost === 0) await this.#something(signal);
      if (this.#ended || signal.aborted) break;
      // More will have come by then, and together they cost less.
      const waitMs = Math.max(this.#gatherMs, this.#restsUntil - this.#clock.monotonic());
      await this.#clock.delay(Math.max(0, Math.min(waitMs, this.#leftMs)), signal).catch(() => {});
      if (this.#ended) break;
      const lost = this.#lostToTell();
      if (this.#kept.length > 0 || lost > 0) return this.#take(lost);
    }
    // What nobody has been told yet, once.
    if (this.#ended || signal.aborted || (this.#lost === 0 && this.#kept.length === 0)) return undefined;
    return this.#take(this.#lost);
  }

  /** Showing what was handed over last has cost the event loop so much: more is handed over once its share allows for it. */
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

  /** Whether there is room for it. */
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

  /** Resolves when there is something to be said, or it is over. */
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
