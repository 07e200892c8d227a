import { BridgeError, type Connection, type Sender, type Session } from "@bridge/ports";
import type { Auditor } from "../run/auditor.ts";
import { openAgain, type Owner } from "../time/virtual-time.ts";
import { numberIn } from "./broker-session.ts";
import type { Target } from "./target.ts";
import { Way } from "./way.ts";

export interface TargetSessionOptions {
  readonly target: Target;
  readonly owner: Owner;
  readonly auditor: Auditor;
  /** Whether whoever connects takes the place of whoever is connected. */
  readonly exclusive: boolean;
}

/** One instance's session at the targets, with at most one connection, over which its senders send. */
export class TargetSession implements Session {
  readonly subscriptions: ReadonlySet<string> = new Set();
  readonly #options: TargetSessionOptions;
  #connection: TargetConnection | undefined;
  /** When the client last heard that it has no connection any more. */
  #lostAt = -1;

  constructor(options: TargetSessionOptions) {
    this.#options = options;
  }

  connect(signal: AbortSignal): Promise<Connection> {
    const { target, owner, auditor, exclusive } = this.#options;
    const { time, dice, plan } = target.options;
    const since = time.now;
    const blocked = (): number => Math.max(openAgain(owner, "target", ">"), openAgain(owner, "target", "<"));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      signal.addEventListener("abort", onAbort, { once: true });
      new Way(time, dice, 2 * plan.target.latencyMs, owner, blocked).go(() => {
        signal.removeEventListener("abort", onAbort);
        if (signal.aborted) return;
        if (target.down === "refuses") return reject(new BridgeError("CONNECTION_LOST", "the target is down"));
        const connection = (this.#connection = new TargetConnection(() => (this.#lostAt = time.now)));
        if (exclusive) {
          // What was on its way while it stood still arrives before it can look at a clock.
          if ((owner.thawedAt ?? -1) < since) auditor.lease.connects(owner);
          target.connected(this);
        }
        resolve(connection);
      });
    });
  }

  /** The target drops the connection; the client hears of it later. */
  cut(noticedAfterMs: number): void {
    const { target, owner } = this.#options;
    const { time } = target.options;
    const connection = this.#connection;
    if (connection === undefined) return;
    connection.dropped = true;
    time.reach(owner, time.now + noticedAfterMs, () => connection.end(lost()));
  }

  sender(): Sender {
    const { target, owner, auditor } = this.#options;
    const disposed = new AbortController();
    return {
      send: (envelope, address, signal) => {
        const connection = this.#connection;
        if (connection?.ended !== false) {
          // What was on its way when it was lost could not know.
          if (this.#lostAt < target.options.time.now)
            auditor.violated(`message ${numberIn(envelope.payload)} was sent over a session that is not connected`);
          return Promise.reject(lost(false));
        }
        const bounded = AbortSignal.any([signal, connection.gone.signal, disposed.signal]);
        return target.send(envelope, address, bounded, owner, () => !connection.dropped);
      },
      async [Symbol.asyncDispose]() {
        disposed.abort(lost());
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
  }
}

class TargetConnection implements Connection {
  readonly closed: Promise<BridgeError | undefined>;
  readonly gone = new AbortController();
  /** By the target, which the client may not have noticed yet. */
  dropped = false;
  readonly #closed = Promise.withResolvers<BridgeError | undefined>();
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.closed = this.#closed.promise;
    this.#onEnd = onEnd;
  }

  get ended(): boolean {
    return this.gone.signal.aborted;
  }

  async reconcile(): Promise<ReadonlySet<string>> {
    return new Set();
  }

  end(cause: BridgeError | undefined): void {
    if (this.ended) return;
    this.#onEnd();
    this.gone.abort(cause ?? lost());
    this.#closed.resolve(cause);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropped = true;
    this.end(undefined);
  }
}

/** `charged`: whether anything was tried. */
function lost(charged = true): BridgeError {
  return new BridgeError("CONNECTION_LOST", "the connection to the target is lost", { charged });
}
