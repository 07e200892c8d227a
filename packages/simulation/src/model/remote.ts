import { BridgeError } from "@bridge/ports";
import type { Dice } from "../dice.ts";
import type { Habits } from "../plan/plan.ts";
import { openAgain, type Owner, type VirtualTime } from "../time/virtual-time.ts";

/**
 * How a service that is down looks from outside: it refuses; it is silent; it does what is asked but the answer is
 * lost; it does part of that and fails; it has no room for anything new; it takes no writes for the moment; or it does
 * what is asked at once and answers late.
 */
export type Down = "refuses" | "silent" | "loses" | "torn" | "full" | "busy" | "slow";

/** By this factor answers are late then. */
const SLOWER = 8;

export interface RemoteOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly habits: Habits;
  /**
   * Whether it is a disk rather than a server: requests that arrive while it is silent are carried out afterwards,
   * unless their process is dead.
   */
  readonly local?: boolean;
}

export interface Question<Answer> {
  /** Whether it needs room. */
  readonly writes?: boolean;
  /** What the service does, durable once it resolves. `torn`: only part of it. Takes no time. */
  readonly work: (torn: boolean) => Promise<Answer>;
}

/** A service behind a network: requests take time, and so do answers, which may never arrive. */
export class Remote {
  #down: Down | undefined;
  readonly #options: RemoteOptions;
  #crashes = 0;
  /** Writes that have arrived and are not done. */
  #writing = 0;
  #hung: (() => void)[] = [];

  constructor(options: RemoteOptions) {
    this.#options = options;
  }

  get down(): Down | undefined {
    return this.#down;
  }

  /** Whether something may still be written that nobody waits for any more. */
  get writes(): boolean {
    return this.#writing > 0;
  }

  set down(how: Down | undefined) {
    this.#down = how;
    if (how === undefined) for (const run of this.#hung.splice(0)) run();
  }

  /** Whatever is not durable by now never happens. */
  crash(): void {
    this.#crashes++;
  }

  /** A request sent before its instance died is carried out all the same. */
  ask<Answer>(owner: Owner, signal: AbortSignal, question: Question<Answer>): Promise<Answer> {
    const { time, dice, habits, name, local = false } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    if (!owner.alive) return promise;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const later = (run: () => void, notBefore = 0): void =>
      void time.at(Math.max(notBefore, time.now + dice.next() * habits.latencyMs), run);
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    // Between a process and its disk there is no network.
    const opens = (way: ">" | "<"): number => (local ? 0 : openAgain(owner, name, way));
    // What a network holds up arrives late, or never.
    const lost = (until: number): boolean => until > time.now && dice.chance(0.5);
    const tell = (said: () => void): void => {
      const until = opens("<");
      if (lost(until)) return;
      const most = habits.latencyMs * (this.down === "slow" ? SLOWER : 1);
      time.reach(owner, Math.max(until, time.now + dice.next() * most), () => {
        signal.removeEventListener("abort", onAbort);
        said();
      });
    };
    const fail = (code: "UNAVAILABLE" | "CONNECTION_LOST", message: string): void =>
      tell(() => reject(new BridgeError(code, `${name} ${message}`)));
    const arrive = (): void => {
      const crashes = this.#crashes;
      const { down } = this;
      if (local) {
        if (!owner.alive) return;
        if (down === "silent" || down === "loses" || down === "torn") return void this.#hung.push(arrive);
      }
      if (down === "silent") return;
      if (down === "refuses") return fail("CONNECTION_LOST", "refuses");
      if (down === "busy" && question.writes === true)
        return tell(() => reject(new BridgeError("UNAVAILABLE", `${name} is busy`, { charged: false })));
      if (down === "full" && question.writes === true) return fail("UNAVAILABLE", "is full");
      const counts = question.writes === true ? 1 : 0;
      this.#writing += counts;
      later(() => {
        this.#writing -= counts;
        if (crashes !== this.#crashes) return fail("CONNECTION_LOST", "has crashed");
        question.work(down === "torn").then(
          (answer) => {
            if (down === "torn" || (down === "loses" && dice.chance(0.5))) fail("CONNECTION_LOST", "is gone");
            else if (down !== "loses") tell(() => resolve(answer));
          },
          (error: unknown) => tell(() => reject(error)),
        );
      });
    };
    const until = opens(">");
    if (!lost(until)) later(arrive, until);
    return promise;
  }
}
