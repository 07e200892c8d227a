import { BridgeError, type SessionRole } from "@bridge/ports";
import { FaultGate } from "./fault-gate.ts";
import { Watchers } from "./watchers.ts";

/** The way from one half of a session to the hub, with switches that break it. Up unless somebody switches it. */
export class MemoryLink {
  readonly sessionId: string;
  readonly role: SessionRole;
  /** Switches for connecting: a refused connection is {@link FaultGate.failNext}. */
  readonly connects: FaultGate;
  /** Switches for reconciling. */
  readonly reconciles: FaultGate;
  readonly #watchers = new Watchers();
  readonly #refusedSubscriptions = new Set<string>();
  #lose: ((cause: BridgeError) => void) | undefined;
  #connections = 0;

  constructor(sessionId: string, role: SessionRole) {
    this.sessionId = sessionId;
    this.role = role;
    const changed = (): void => this.#watchers.changed();
    this.connects = new FaultGate(changed);
    this.reconciles = new FaultGate(changed);
  }

  get connected(): boolean {
    return this.#lose !== undefined;
  }

  /** How many connections have been made. */
  get connections(): number {
    return this.#connections;
  }

  /** Breaks the connection, if there is one; a new one can be made at once. */
  cut(cause: BridgeError = new BridgeError("CONNECTION_LOST", `session "${this.sessionId}": the link was cut`)): void {
    this.#lose?.(cause);
  }

  /** Breaks the connection and refuses new ones until {@link up}. */
  down(cause: BridgeError = new BridgeError("CONNECTION_LOST", `session "${this.sessionId}": the link is down`)): void {
    this.connects.failNext(Infinity, cause);
    this.cut(cause);
  }

  /** Lets connections through again. */
  up(): void {
    this.connects.clear();
  }

  /** Lets the hub acknowledge all subscriptions but these; empty: all of them. Counts from the next reconcile on. */
  refuseSubscriptions(channels: Iterable<string>): void {
    this.#refusedSubscriptions.clear();
    for (const channel of channels) this.#refusedSubscriptions.add(channel);
  }

  /** Resolves once `condition` holds, which is tried now and after each change; rejects when `signal` aborts. */
  async until(condition: (link: this) => boolean, signal: AbortSignal): Promise<void> {
    await this.#watchers.until(() => condition(this), signal);
  }

  /** For sessions. */
  acknowledges(channel: string): boolean {
    return !this.#refusedSubscriptions.has(channel);
  }

  /** For sessions: a connection is up; `lose` is called when it breaks. Disposing tells that it is gone. */
  connection(lose: (cause: BridgeError) => void): Disposable {
    this.#lose = lose;
    this.#connections++;
    this.#watchers.changed();
    return {
      [Symbol.dispose]: () => {
        if (this.#lose === lose) this.#lose = undefined;
        this.#watchers.changed();
      },
    };
  }
}
