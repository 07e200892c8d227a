import { BridgeError, type Envelope, type ErrorCode } from "@bridge/ports";
import type { Dice } from "../dice.ts";
import type { Plan } from "../plan/plan.ts";
import type { Auditor } from "../run/auditor.ts";
import type { Moments } from "../run/moments.ts";
import { openAgain, type Owner, type VirtualTime } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import { numberIn } from "./broker-session.ts";
import type { TargetSession } from "./target-session.ts";

const TRANSIENT: readonly [ErrorCode, ...ErrorCode[]] = ["UNAVAILABLE", "THROTTLED", "CONNECTION_LOST", "TIMEOUT"];

/** A client that lost its session to another notices within this time. */
const TAKEOVER_MS = 200;

export interface TargetOptions {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly auditor: Auditor;
  readonly moments?: Pick<Moments, "comes">;
  readonly plan: Plan;
  /** Sees what it takes. */
  readonly taken?: (envelope: Envelope) => void;
}

/** The result of one send: whether the target takes it, and what the sender is told, if anything. */
interface Reply {
  readonly accepts: boolean;
  readonly answer: "accepted" | "silent" | BridgeError;
  readonly slow: boolean;
}

/** Targets that accept or refuse messages, are slow or silent, or accept and lose the answer. */
export class Target {
  /** While it is down: how that looks. */
  down: "refuses" | "silent" | "loses" | undefined;
  /** True while the faults last; afterwards a target refuses only what it always refuses. */
  moody = true;
  /** When it last did anything else than accept at once, or refuse what it always refuses. */
  moodyAt = -Infinity;
  readonly options: TargetOptions;
  /** Whoever has the session that one has at a time. */
  #connected: TargetSession | undefined;

  constructor(options: TargetOptions) {
    this.options = options;
  }

  /** Of a session that one has at a time: the former one is dropped, and hears of it a little later. */
  connected(session: TargetSession): void {
    const former = this.#connected;
    this.#connected = session;
    if (former !== session) former?.cut(this.options.dice.next() * TAKEOVER_MS);
  }

  /** `reaches`: whether what arrives now arrives at all. */
  send(envelope: Envelope, address: string, signal: AbortSignal, owner: Owner, reaches = () => true): Promise<void> {
    const { time, dice, trace, auditor, plan, moments } = this.options;
    const { id, payload } = envelope;
    if (!(payload instanceof Uint8Array)) auditor.violated("what was sent is no payload");
    const number = numberIn(payload);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (!owner.alive) return promise;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    let over = false;
    const end = (error: unknown): void => {
      over = true;
      signal.removeEventListener("abort", onAbort);
      if (error === undefined) {
        auditor.targets.heard++;
        auditor.jobs.replays.heard(owner, id, address);
        return resolve();
      }
      auditor.targets.failed(number, address, error, owner, id);
      reject(error);
    };
    const onAbort = (): void => end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const way = (longer: number): number => dice.next() * plan.target.latencyMs * longer;
    auditor.targets.sends(owner, number, address, id);
    const there = openAgain(owner, "target", ">");
    time.at(Math.max(there, time.now + way(1)), () => {
      if (!reaches()) return;
      const { accepts, answer, slow } = this.#reply(number, address);
      const told = typeof answer === "string" ? answer : answer.code;
      trace.add(`target ${address} ${accepts ? "takes" : "does not take"} ${number}: ${told}`);
      if (accepts) {
        auditor.targets.accepts(number, address);
        this.options.taken?.(envelope);
        moments?.comes("accepted", owner);
      }
      if (answer === "silent") {
        if (accepts) auditor.targets.unheard(number, address);
        return;
      }
      if (accepts) auditor.targets.unheard(number, address);
      time.reach(owner, Math.max(openAgain(owner, "target", "<"), time.now + way(slow ? 50 : 1)), () => {
        if (over || !reaches()) return;
        if (accepts && answer === "accepted") auditor.targets.heardAfterAll(number, address);
        end(answer === "accepted" ? undefined : answer);
      });
    });
    return promise;
  }

  #reply(number: number, address: string): Reply {
    const { time, plan } = this.options;
    if (this.down === "refuses") return refusal("UNAVAILABLE");
    if (this.down === "silent") return { accepts: false, answer: "silent", slow: false };
    if (this.down === "loses") return this.#lost();
    const { poison: always, poisons, healsAt = Infinity } = plan.messages[number] ?? {};
    const poison = poisons === undefined ? always : poisons[address];
    if (poison !== undefined && time.now < healsAt) return refusal(poison);
    const mood = this.moody ? this.#mood() : undefined;
    if (mood !== undefined) this.moodyAt = time.now;
    return mood ?? { accepts: true, answer: "accepted", slow: false };
  }

  #mood(): Reply | undefined {
    const { dice, plan } = this.options;
    const { refuses, loses, silent, slow } = plan.target;
    if (dice.chance(refuses)) return refusal(dice.pick(TRANSIENT));
    if (dice.chance(loses)) return this.#lost();
    if (dice.chance(silent)) return { accepts: false, answer: "silent", slow: false };
    if (dice.chance(slow)) return { accepts: true, answer: "accepted", slow: true };
    return undefined;
  }

  #lost(): Reply {
    const silent = this.options.dice.chance(0.5);
    return {
      accepts: true,
      answer: silent ? "silent" : new BridgeError("CONNECTION_LOST", "the answer was lost"),
      slow: false,
    };
  }
}

function refusal(code: ErrorCode): Reply {
  return { accepts: false, answer: new BridgeError(code, code), slow: false };
}
