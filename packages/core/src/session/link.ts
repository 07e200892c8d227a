import type { BridgeError, Session, SessionRole } from "@bridge/ports";
import type { Lease } from "../lease/lease.ts";

const NOTHING: ReadonlySet<string> = new Set();

/** One half of a configured session, as the rest of the engine sees it. Written only by its keeper. */
export class Link {
  readonly sessionId: string;
  readonly role: SessionRole;
  readonly session: Session;
  /** What it is connected under; absent unless the session is exclusive. */
  readonly lease: Lease | undefined;
  connects = 0;
  failures = 0;
  lastError: BridgeError | undefined;
  /** While there is a connection: gives it up, so that another is made at once. */
  cut: (() => void) | undefined;
  #active: ReadonlySet<string> | undefined;
  #standsBy = false;
  #up = Promise.withResolvers<void>();

  constructor(options: { sessionId: string; role: SessionRole; session: Session; lease?: Lease | undefined }) {
    this.sessionId = options.sessionId;
    this.role = options.role;
    this.session = options.session;
    this.lease = options.lease;
  }

  get connected(): boolean {
    return this.#active !== undefined;
  }

  /** Whether it is connected and asks for nothing, because what it reads is for another instance. */
  get standsBy(): boolean {
    return this.#standsBy;
  }

  get subscriptionsWanted(): number {
    return this.#standsBy ? 0 : this.session.subscriptions.size;
  }

  get subscriptionsActive(): number {
    return this.#active?.size ?? 0;
  }

  /** Resolves while the link is connected, or when it next is. */
  get whenConnected(): Promise<void> {
    return this.#up.promise;
  }

  connectedWith(active: ReadonlySet<string>): void {
    if (this.#active === undefined) {
      this.connects++;
      this.lease?.connected();
    }
    this.#active = active;
    this.#standsBy = false;
    this.lastError = undefined;
    this.#up.resolve();
  }

  /** It is connected, and asks for nothing: what it reads is for another instance. */
  connectedToStandBy(): void {
    this.connectedWith(NOTHING);
    this.#standsBy = true;
  }

  lost(error: BridgeError): void {
    this.failures++;
    this.lastError = error;
    this.closed();
  }

  closed(): void {
    if (this.#active === undefined) return;
    this.#active = undefined;
    this.#standsBy = false;
    this.lease?.disconnected();
    this.#up = Promise.withResolvers();
  }
}
