import { getEventListeners } from "node:events";
import { BridgeError, type Connection, type Delivery, type Session, type Settlement } from "@bridge/ports";
import type { Plan } from "../plan/plan.ts";
import { openAgain, type Owner } from "../time/virtual-time.ts";
import type { Broker, Consumer, Handed } from "./broker.ts";
import { Loans, OVER } from "./loans.ts";
import { Way } from "./way.ts";

export interface BrokerSessionOptions {
  readonly broker: Broker;
  readonly owner: Owner;
  readonly habits: Plan["broker"];
  readonly window: number;
  /** Whether a client that connects replaces the connected one. */
  readonly exclusive: boolean;
  /** Whether the broker recognises the login. Default: true. */
  readonly known?: boolean;
  /** The probability that its client misses the abort of an attempt, so that it connects all the same. Default: 0. */
  readonly deaf?: number;
}

/** Closing a connection is bounded. */
const CLOSE_MS = 2_000;

/** One instance's session at the broker, with at most one connection. */
export class BrokerSession implements Session {
  readonly subscriptions = new Set<string>();
  readonly options: BrokerSessionOptions;
  /** Takes deliveries. */
  taker: ((delivery: Delivery, taken: AbortSignal) => void) | undefined;
  /** Connections that nobody has closed and that are not lost. */
  readonly open = new Set<Connection>();
  #connection: BrokerConnection | undefined;

  constructor(options: BrokerSessionOptions) {
    this.options = options;
  }

  connect(signal: AbortSignal): Promise<Connection> {
    const { broker, owner, habits, exclusive, known = true, deaf = 0 } = this.options;
    const { time, dice } = broker.options;
    const hears = dice.chance(1 - deaf);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      if (hears) signal.addEventListener("abort", onAbort, { once: true });
      const blocked = (): number => Math.max(openAgain(owner, "broker", ">"), openAgain(owner, "broker", "<"));
      new Way(time, dice, 2 * habits.latencyMs, owner, blocked).go(() => {
        signal.removeEventListener("abort", onAbort);
        if (signal.aborted && hears) return;
        if (!known) return reject(new BridgeError("NOT_AUTHORIZED", "the broker does not know it"));
        if (broker.down) return reject(new BridgeError("CONNECTION_LOST", "the broker is down"));
        const connection = new BrokerConnection(this);
        this.open.add(connection);
        if (!signal.aborted) this.#connection = connection;
        if (exclusive && !signal.aborted) connection.closes = broker.options.auditor.lease.opens(owner);
        resolve(connection);
      });
    });
  }

  /** The number of listeners that wait for the end of its connection. */
  get listeners(): number {
    return this.#connection?.listeners ?? 0;
  }

  /** The broker drops the connection; the client notices later. */
  cut(noticedAfterMs: number): void {
    this.#connection?.cut(noticedAfterMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
  }
}

class BrokerConnection implements Connection, Consumer {
  readonly closed: Promise<BridgeError | undefined>;
  readonly unacked: Consumer["unacked"] = new Map();
  /** Called when it is closed, or known to be lost. */
  closes = () => {};
  readonly #session: BrokerSession;
  readonly #gone = new AbortController();
  /** What came over it is told to be taken back. */
  readonly #told = new AbortController();
  readonly #closed = Promise.withResolvers<BridgeError | undefined>();
  readonly #there: Way;
  readonly #back: Way;
  /** Of a broker that lends. */
  readonly #loans: Loans | undefined;
  /** Whether the broker dropped the connection, perhaps without the client's notice yet. */
  #dropped = false;

  constructor(session: BrokerSession) {
    const { broker, owner, habits } = session.options;
    const { time, dice } = broker.options;
    this.#session = session;
    this.closed = this.#closed.promise;
    this.#there = new Way(time, dice, habits.latencyMs, undefined, () => openAgain(owner, "broker", ">"));
    this.#back = new Way(time, dice, habits.latencyMs, owner, () => openAgain(owner, "broker", "<"));
    const { loanMs } = habits;
    if (loanMs !== undefined) this.#loans = new Loans({ time, owner, loanMs, extend: this.#extend.bind(this) });
  }

  get listeners(): number {
    return getEventListeners(this.#gone.signal, "abort").length;
  }

  get exclusive(): boolean {
    return this.#session.options.exclusive;
  }

  get window(): number {
    return this.#session.options.window;
  }

  async reconcile(signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    const { subscriptions } = this.#session;
    if (subscriptions.size === 0) return subscriptions;
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlySet<string>>();
    const onGone = (): void => reject(this.#gone.signal.reason as Error);
    this.#gone.signal.addEventListener("abort", onGone, { once: true });
    if (this.#gone.signal.aborted) onGone();
    this.#there.go(() => {
      if (this.#dropped || this.#gone.signal.aborted) return;
      this.#back.go(() => {
        this.#gone.signal.removeEventListener("abort", onGone);
        resolve(subscriptions);
      });
      this.#session.options.broker.attach(this);
    });
    return promise;
  }

  hand(held: { readonly number: number }, receives: number): void {
    this.#back.go(() => {
      if (this.#gone.signal.aborted) return;
      const lent = this.#loans?.hold({ number: held.number, receives });
      const [taken, told] = [lent ?? this.#gone.signal, lent ?? this.#told.signal];
      this.#session.taker?.(this.#delivery({ number: held.number, receives }, taken, told), taken);
    });
  }

  cut(noticedAfterMs: number): void {
    const { broker, owner } = this.#session.options;
    const { time } = broker.options;
    this.#dropped = true;
    broker.lose(this);
    time.reach(owner, time.now + noticedAfterMs, () => this.#end(new BridgeError("CONNECTION_LOST", "cut")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#gone.signal.aborted) return;
    this.#end(undefined);
    const { broker, owner } = this.#session.options;
    const { time } = broker.options;
    await new Promise<void>((resolve) => {
      // Stop waiting for a broker that does not answer.
      time.reach(owner, time.now + CLOSE_MS, resolve);
      this.#there.go(() => {
        broker.detach(this);
        this.#back.go(resolve);
      });
    });
    this.closes();
  }

  #end(cause: BridgeError | undefined): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort(cause ?? new BridgeError("CONNECTION_LOST", "the connection was closed"));
    this.#tell();
    this.#session.open.delete(this);
    this.#loans?.end(this.#gone.signal.reason);
    this.#closed.resolve(cause);
    if (cause !== undefined) this.closes();
  }

  #tell(): void {
    const { broker, owner, habits } = this.#session.options;
    const { time } = broker.options;
    const tell = (): void => this.#told.abort(this.#gone.signal.reason);
    if (habits.tellsAfterMs === undefined) tell();
    else time.reach(owner, time.now + habits.tellsAfterMs, tell);
  }

  #extend(handed: Handed, answer: (still: boolean) => void): void {
    this.#there.go(() => {
      const still = this.#session.options.broker.extend(this, handed);
      this.#back.go(() => answer(still));
    });
  }

  /** `told`: when whoever has it hears that it is `taken` back. */
  #delivery({ number, receives }: Handed, taken: AbortSignal, told: AbortSignal): Delivery {
    const { broker, owner, habits } = this.#session.options;
    const { auditor, trace, moments } = broker.options;
    auditor.source.delivers(owner, number, told);
    const arrives = (settlement: Settlement): boolean => {
      const known = broker.settled(this, { number, receives }, settlement);
      if (known) moments?.comes("settled", owner);
      return known;
    };
    let settled = false;
    const settle = (settlement: Settlement): Promise<void> | void => {
      if (!owner.alive) return;
      trace.add(`engine settles ${number}: ${said(settlement)}`);
      auditor.lease.acts(owner, "settles", number);
      auditor.source.told(owner, number, settlement);
      auditor.source.settles(number, settlement, settled, owner, !taken.aborted);
      settled = true;
      if (taken.aborted) throw taken.reason as Error;
      this.#loans?.release(number);
      if (!habits.confirms) {
        this.#there.go(() => void arrives(settlement));
        return;
      }
      return new Promise((resolve, reject) => {
        const onGone = (): void => reject(this.#gone.signal.reason as Error);
        this.#gone.signal.addEventListener("abort", onGone, { once: true });
        this.#there.go(() => {
          const known = arrives(settlement);
          if (!known && habits.loanMs === undefined) return;
          this.#back.go(() => {
            this.#gone.signal.removeEventListener("abort", onGone);
            if (known) resolve();
            else reject(OVER);
          });
        });
      });
    };
    return {
      message: broker.options.messageOf(number),
      ...(habits.counts && { receiveCount: receives }),
      releasable: habits.releasable,
      signal: told,
      settle,
    };
  }
}

function said(settlement: Settlement): string {
  switch (settlement.kind) {
    case "accept":
      return settlement.outcome;
    case "release":
      return `release for ${Math.round(settlement.delayMs)} ms`;
    case "refuse":
      return `refuse with ${settlement.error.code}`;
  }
}

/** The number of the message that a payload belongs to. */
export function numberIn(payload: Uint8Array): number {
  return Number(new TextDecoder().decode(payload));
}
