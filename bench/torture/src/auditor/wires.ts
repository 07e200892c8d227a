import { amqpSourceListener, amqpTargetListener } from "./amqp-listeners.ts";
import { Doubt, type Hindrance } from "./doubt.ts";
import { httpSourceListener, httpTargetListener } from "./http-listeners.ts";
import type { Ledger } from "./ledger.ts";
import { mqttSourceListener, mqttTargetListener } from "./mqtt-listeners.ts";
import { natsSourceListener, natsTargetListener } from "./nats-listeners.ts";
import { type Memory, Sends } from "./sends.ts";
import { type Listener, Tap } from "./tap.ts";
import { nameOf } from "../message.ts";
import { type DeliveryMode, type Mode, modeOf, type Transport } from "../routes.ts";

/** How often connections to targets ended, and what was in flight on them then. */
export interface Interruptions {
  readonly connections: number;
  readonly unconfirmed: number;
  readonly unread: number;
  /** The most that one connection had in flight when it ended. */
  readonly largest: number;
}

const SOURCE_LISTENERS: Readonly<Record<Transport, (ledger: Ledger) => Listener>> = {
  mqtt: mqttSourceListener,
  http: httpSourceListener,
  amqp: amqpSourceListener,
  nats: natsSourceListener,
};

const TARGET_LISTENERS: Readonly<Record<Transport, (sends: Sends, onEnd: () => void) => Listener>> = {
  mqtt: mqttTargetListener,
  http: httpTargetListener,
  amqp: amqpTargetListener,
  nats: natsTargetListener,
};

/** All taps of the torture. They do not depend on what the bridge says of itself. */
export class Wires {
  readonly #ledger: Ledger;
  readonly #mode: Mode;
  /**
   * Killed in `direct_hold`, the bridge knows nothing any more and sends only what its sources hand over again; an outbox
   * still knows what was sent and not confirmed.
   */
  readonly #memories: Readonly<Record<DeliveryMode, Memory>> = {
    direct_hold: { outlivesKills: false, doubt: new Doubt() },
    shared_outbox: { outlivesKills: true, doubt: new Doubt() },
  };
  readonly #live = new Set<Sends>();
  #interruptions = { connections: 0, unconfirmed: 0, unread: 0, largest: 0 };

  constructor(ledger: Ledger, mode: Mode) {
    this.#ledger = ledger;
    this.#mode = mode;
  }

  get interruptions(): Interruptions {
    return this.#interruptions;
  }

  tapSource(kind: Transport, port: number): Promise<Tap> {
    return Tap.open({ port, listener: () => SOURCE_LISTENERS[kind](this.#ledger) });
  }

  tapTarget(kind: Transport, port: number): Promise<Tap> {
    return Tap.open({ port, listener: () => this.#sendListener(TARGET_LISTENERS[kind]) });
  }

  /** The bridge is about to be killed. */
  dying(): void {
    for (const sends of this.#live) sends.doom();
  }

  /** Something keeps the bridge from taking note of confirmations, or does so no more. */
  hinder(hindrance: Hindrance, on: boolean): void {
    const { direct_hold: held, shared_outbox: outbox } = this.#memories;
    for (const { doubt } of hindrance === "outbox_full" ? [outbox] : [held, outbox]) {
      if (on) doubt.begins(hindrance);
      else doubt.ends(hindrance);
    }
    if (hindrance === "outbox_full" && on) for (const sends of this.#live) sends.forget(outbox);
  }

  #sendListener(listen: (sends: Sends, onEnd: () => void) => Listener): Listener {
    const sends = new Sends(this.#ledger, (id) => this.#memoryOf(id));
    this.#live.add(sends);
    return listen(sends, () => {
      this.#live.delete(sends);
      const { unconfirmed, unread } = sends.interrupted();
      const before = this.#interruptions;
      this.#interruptions = {
        connections: before.connections + 1,
        unconfirmed: before.unconfirmed + unconfirmed,
        unread: before.unread + unread,
        largest: Math.max(before.largest, unconfirmed + unread),
      };
    });
  }

  #memoryOf(id: string): Memory {
    const name = nameOf(id);
    return this.#memories[name === undefined ? "direct_hold" : modeOf(name.route, this.#mode)];
  }
}
