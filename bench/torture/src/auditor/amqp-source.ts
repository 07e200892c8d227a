import type { ConfirmChannel } from "amqplib";
import { sourceQueue } from "../bridge/document.ts";
import { LANE_HEADER, payloadOf } from "../message.ts";
import type { RouteName } from "../routes.ts";
import { keepConnected } from "./amqp-client.ts";
import type { Ledger } from "./ledger.ts";
import type { Marks, Source } from "./source.ts";

/** Publishes to a queue with confirms; repeats after a lost connection what the broker has not confirmed. */
export class AmqpSource implements Source {
  readonly #route: RouteName;
  readonly #ledger: Ledger;
  readonly #open = new Map<string, Marks>();
  #channel: ConfirmChannel | undefined;

  private constructor(route: RouteName, ledger: Ledger) {
    this.#route = route;
    this.#ledger = ledger;
  }

  static async connect(port: number, route: RouteName, ledger: Ledger): Promise<AmqpSource> {
    const source = new AmqpSource(route, ledger);
    await keepConnected(port, async (channel) => source.#begin(channel));
    return source;
  }

  get open(): number {
    return this.#open.size;
  }

  offer(id: string, marks: Marks): void {
    this.#open.set(id, marks);
    this.#ledger.offered(id);
    this.#publish(id, marks);
  }

  #begin(channel: ConfirmChannel): void {
    this.#channel = channel;
    channel.once("close", () => {
      if (this.#channel === channel) this.#channel = undefined;
    });
    for (const [id, marks] of this.#open) this.#publish(id, marks);
  }

  #publish(id: string, { lane, orderingKey }: Marks): void {
    const headers = {
      ...(lane !== undefined && { [LANE_HEADER]: lane }),
      ...(orderingKey !== undefined && { "ordering-key": orderingKey }),
    };
    const confirmed = (error: unknown): void => {
      if (error === null && this.#open.delete(id)) this.#ledger.accepted(id);
    };
    try {
      const properties = { messageId: id, headers, persistent: true };
      this.#channel?.publish("", sourceQueue(this.#route), payloadOf(id), properties, confirmed);
    } catch {
      // The channel is closed: the next one gets it.
    }
  }
}
