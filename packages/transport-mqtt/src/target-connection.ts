import { BridgeError, type Clock, type Connection } from "@bridge/ports";
import type { IConnackPacket } from "mqtt-packet";
import { Publisher } from "./publisher.ts";
import type { Wire, WireHandlers } from "./wire.ts";

const NO_SUBSCRIPTIONS: ReadonlySet<string> = new Set();

/** A connection that sends. */
export class TargetConnection implements Connection {
  readonly wire: Wire;
  readonly #clock: Clock;
  #publisher: Publisher | undefined;

  /** `wire` begins to connect; it is called once. */
  constructor(wire: (handlers: WireHandlers) => Wire, clock: Clock) {
    this.#clock = clock;
    this.wire = wire({
      published: () => true,
      acknowledged: (packet) => this.#publisher?.acknowledged(packet),
      gone: (cause) => this.#gone(cause),
    });
  }

  get closed(): Promise<BridgeError | undefined> {
    return this.wire.closed;
  }

  /** Absent before the broker has accepted the connection, and after it is lost. */
  get publisher(): Publisher | undefined {
    return this.#publisher;
  }

  /** The broker has accepted the connection and told what it takes. */
  accepted(connack: IConnackPacket): void {
    if (this.wire.gone) return;
    this.#publisher = new Publisher(this.wire.stream, connack, this.#clock, (error) => this.wire.lose(error));
  }

  async reconcile(): Promise<ReadonlySet<string>> {
    return NO_SUBSCRIPTIONS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gone(undefined);
    await this.wire.close();
  }

  #gone(cause: BridgeError | undefined): void {
    this.#publisher?.lose(cause ?? new BridgeError("CONNECTION_LOST", "the connection was closed"));
    this.#publisher = undefined;
  }
}
