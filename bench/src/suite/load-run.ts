import { setTimeout as sleep } from "node:timers/promises";
import type { Usage } from "../harness/answer.ts";
import type { Child } from "../harness/child.ts";
import type { Flood, Pace } from "../load/flow.ts";
import type { Balance, Latency } from "../load/ledger.ts";
import type { Run } from "./measurement.ts";

/** How much goes through a contender, and how. */
export interface Volume {
  readonly window: number;
  /** Messages before the measured ones, and again as many until some seconds have passed. */
  readonly warmUp: number;
  readonly messages: number;
  /** Seconds at 1,000 messages a second; 0 measures no latency. */
  readonly pacedSeconds: number;
}

/** Whoever carries the messages, as far as it is measured from outside. */
export interface Carrier {
  usage(): Promise<Usage>;
}

/** What else grows with the messages; its name is that of the figure that says by how much for one message. */
type Counters = Readonly<Record<string, () => Promise<number>>>;

export const LOAD = new URL("../load/main.ts", import.meta.url);
export const PHASE_TIMEOUT_MS = 120_000;
/** Compilers work on threads of their own, which a full machine gives little time: they count by the clock. */
const WARM_UP_MS = 3_000;
const PACE_PER_SECOND = 1_000;
/** Who carries less than so many times the pace is not asked to: its latency would be that of a queue. */
const HEADROOM = 1.5;
/** Messages between the two ends of the load, as a multiple of the window: there is always one more to take. */
const OUTSTANDING = 4;
/** For what a contender still has to do when its last message has arrived, before it is another one's turn. */
const RESUME_MS = 100;
/** At the beginning of what is paced, which still pays for what a flood left behind. */
const SETTLE_SECONDS = 0.5;

export interface LoadRunParts {
  readonly window: number;
  readonly load: Pick<Child, "ask">;
  readonly contender: Carrier;
  readonly counters?: Counters;
}

/** Has the load go through a contender, in as many turns as are asked for; its figures are the sums of all turns. */
export class LoadRun {
  readonly #parts: LoadRunParts;
  readonly #counted: Record<string, number> = {};
  #messages = 0;
  #elapsedMs = 0;
  #cpuMs = 0;
  #peakRssBytes = Number.NaN;
  #latency: Latency | undefined;

  constructor(parts: LoadRunParts) {
    this.#parts = parts;
  }

  /** Whether it is quick enough for its latency to be measured. */
  get keepsUp(): boolean {
    return this.#perSecond >= HEADROOM * PACE_PER_SECOND;
  }

  /** At least so many messages, which are not measured. */
  async warmUp(messages: number): Promise<void> {
    const begin = performance.now();
    do await this.#flood(messages);
    while (performance.now() - begin < WARM_UP_MS);
  }

  /** Before a turn that comes after those of others. */
  async resume(): Promise<void> {
    await this.#ask("resume", undefined);
    await sleep(RESUME_MS);
  }

  /** As much as goes. */
  async flood(messages: number): Promise<void> {
    const { contender } = this.#parts;
    await this.#count(-1);
    const before = await contender.usage();
    this.#elapsedMs += await this.#flood(messages);
    const after = await contender.usage();
    await this.#count(1);
    this.#messages += messages;
    this.#cpuMs += after.cpuMs - before.cpuMs;
    this.#peakRssBytes = after.peakRssBytes;
  }

  /** So many seconds at 1,000 messages a second. */
  async pace(seconds: number): Promise<void> {
    const pace: Pace = { perSecond: PACE_PER_SECOND, seconds, settleSeconds: SETTLE_SECONDS };
    this.#latency = await this.#ask<Latency>("pace", pace);
  }

  async result(): Promise<Run> {
    const { lost, duplicated, refused } = await this.#ask<Balance>("balance", undefined);
    const counted = Object.entries(this.#counted).map(([name, sum]) => [name, sum / this.#messages]);
    return {
      perSecond: this.#perSecond,
      cpuMicros: (this.#cpuMs / this.#messages) * 1_000,
      /** The share of a core that the contender used: far below 1, something else set the pace. */
      busy: this.#cpuMs / this.#elapsedMs,
      rssMb: this.#peakRssBytes / 2 ** 20,
      ...this.#latency,
      lost,
      duplicated,
      refused,
      ...Object.fromEntries(counted),
    };
  }

  get #perSecond(): number {
    return (this.#messages / this.#elapsedMs) * 1_000;
  }

  #flood(messages: number): Promise<number> {
    return this.#ask("flood", { messages, outstanding: OUTSTANDING * this.#parts.window } satisfies Flood);
  }

  async #count(sign: 1 | -1): Promise<void> {
    for (const [name, counter] of Object.entries(this.#parts.counters ?? {})) {
      this.#counted[name] = (this.#counted[name] ?? 0) + sign * (await counter());
    }
  }

  #ask<Answer>(name: string, argument: unknown): Promise<Answer> {
    return this.#parts.load.ask<Answer>(name, argument, PHASE_TIMEOUT_MS);
  }
}

/** One contender in one piece: as much as goes, then at a pace. */
export async function measure({ warmUp, messages, pacedSeconds }: Volume, parts: LoadRunParts): Promise<Run> {
  const run = new LoadRun(parts);
  await run.warmUp(warmUp);
  await run.flood(messages);
  if (pacedSeconds > 0 && run.keepsUp) await run.pace(pacedSeconds);
  return run.result();
}
