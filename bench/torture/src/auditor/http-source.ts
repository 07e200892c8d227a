import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import * as v from "valibot";
import { ingestPath } from "../bridge/document.ts";
import { LANE_HEADER, payloadOf } from "../message.ts";
import type { RouteName } from "../routes.ts";
import type { Ledger } from "./ledger.ts";
import type { Marks, Source } from "./source.ts";

const CONNECTIONS = 64;
/** Above the bridge's own bound for an answer. */
const ANSWER_TIMEOUT_MS = 8_000;
const CONNECT_TIMEOUT_MS = 3_000;
const PAUSE_MS = [100, 1_000] as const;

const accepted = v.object({ outcome: v.string() });

/** What callers were told. */
export interface Answers {
  /** Of 202, by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Not confirmed: 503, no answer, no connection. Each was repeated. */
  readonly unconfirmed: number;
  /** Any other answer: the bridge has refused a message that it should take. */
  readonly refused: Readonly<Record<string, number>>;
}

/** A caller that repeats each request, under the same key, until it is answered 202. */
export class HttpSource implements Source {
  readonly #pool: Pool;
  readonly #route: RouteName;
  readonly #ledger: Ledger;
  readonly #outcomes: Record<string, number> = {};
  readonly #refused: Record<string, number> = {};
  #unconfirmed = 0;
  #open = 0;

  constructor(port: number, route: RouteName, ledger: Ledger) {
    this.#pool = new Pool(`http://127.0.0.1:${port}`, {
      connections: CONNECTIONS,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    });
    this.#route = route;
    this.#ledger = ledger;
  }

  get open(): number {
    return this.#open;
  }

  get answers(): Answers {
    return { outcomes: this.#outcomes, unconfirmed: this.#unconfirmed, refused: this.#refused };
  }

  offer(id: string, marks: Marks): void {
    this.#open++;
    void this.#repeat(id, marks).then(() => this.#open--);
  }

  async #repeat(id: string, { lane, orderingKey }: Marks): Promise<void> {
    const body = payloadOf(id);
    const headers = {
      "Idempotency-Key": id,
      ...(lane !== undefined && { [LANE_HEADER]: lane }),
      ...(orderingKey !== undefined && { "X-Ordering-Key": orderingKey }),
    };
    for (;;) {
      this.#ledger.offered(id);
      const outcome = await this.#request(body, headers).catch(() => undefined);
      if (outcome !== undefined) {
        this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
        this.#ledger.accepted(id);
        return;
      }
      this.#unconfirmed++;
      await sleep(PAUSE_MS[0] + Math.random() * (PAUSE_MS[1] - PAUSE_MS[0]));
    }
  }

  /** The outcome, when the answer is 202. */
  async #request(body: Buffer, headers: Readonly<Record<string, string>>): Promise<string | undefined> {
    const response = await this.#pool.request({ method: "POST", path: ingestPath(this.#route), headers, body });
    if (response.statusCode === 202) return v.parse(accepted, await response.body.json()).outcome;
    await response.body.dump();
    if (response.statusCode !== 503) {
      const status = String(response.statusCode);
      this.#refused[status] = (this.#refused[status] ?? 0) + 1;
    }
    return undefined;
  }
}
