import { setTimeout as sleep } from "node:timers/promises";
import type { JetStreamClient } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { sourceSubject } from "../bridge/document.ts";
import { LANE_HEADER, payloadOf } from "../message.ts";
import type { RouteName } from "../routes.ts";
import type { Ledger } from "./ledger.ts";
import type { Marks, Source } from "./source.ts";

const ANSWER_TIMEOUT_MS = 3_000;
const PAUSE_MS = 100;

/** Publishes to a stream, and repeats each message until the stream has taken it. */
export class NatsSource implements Source {
  readonly #client: JetStreamClient;
  readonly #route: RouteName;
  readonly #ledger: Ledger;
  #open = 0;

  constructor(client: JetStreamClient, route: RouteName, ledger: Ledger) {
    this.#client = client;
    this.#route = route;
    this.#ledger = ledger;
  }

  get open(): number {
    return this.#open;
  }

  offer(id: string, marks: Marks): void {
    this.#open++;
    this.#ledger.offered(id);
    void this.#repeat(id, marks).then(() => this.#open--);
  }

  async #repeat(id: string, { lane, orderingKey }: Marks): Promise<void> {
    const marks = headers();
    marks.set("message-id", id);
    if (lane !== undefined) marks.set(LANE_HEADER, lane);
    if (orderingKey !== undefined) marks.set("ordering-key", orderingKey);
    const options = { headers: marks, timeout: ANSWER_TIMEOUT_MS };
    for (;;) {
      try {
        await this.#client.publish(sourceSubject(this.#route), payloadOf(id), options);
        this.#ledger.accepted(id);
        return;
      } catch {
        await sleep(PAUSE_MS);
      }
    }
  }
}
