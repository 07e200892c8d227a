import { hash } from "node:crypto";
import type { Clock, OutboxPlace } from "@bridge/ports";
import type { Hearing, PostgresClient } from "@bridge/postgres-kit";
import type { Instances } from "./instances.ts";
import type { Lane, Lanes } from "./lanes.ts";

/**
 * Others are told no more often: the server makes those that notify wait for one another, and who has just been woken
 * looks again anyway.
 */
const PAUSE_MS = 50;
const TELL_TIMEOUT_MS = 2_000;
/** So many numbers of lanes are told of by name; more go as "any". */
const MAX_NAMED = 100;
const ANY = "*";

interface Listener {
  /** Unknown until the lane has been looked up. */
  lane: Lane | undefined;
  readonly arrived: () => void;
}

/**
 * Tells other instances of new records, and hears of theirs. Apart from the writes themselves, so that none waits for
 * it; what gets lost, the drains' own looks make up for.
 */
export class Arrivals implements AsyncDisposable {
  readonly #client: PostgresClient;
  readonly #instances: Instances;
  readonly #lanes: Lanes;
  readonly #clock: Clock;
  readonly #self: string;
  readonly #channel: string;
  readonly #listeners = new Set<Listener>();
  readonly #over = new AbortController();
  #untold = new Set<number>();
  #telling: Promise<void> | undefined;
  #hearing: Hearing | undefined;

  constructor(
    client: PostgresClient,
    parts: { readonly instances: Instances; readonly lanes: Lanes; readonly clock: Clock; readonly self: string },
  ) {
    this.#client = client;
    this.#instances = parts.instances;
    this.#lanes = parts.lanes;
    this.#clock = parts.clock;
    this.#self = parts.self;
    // The name of a schema may be as long as that of a channel.
    this.#channel = `bridge_outbox_${hash("sha256", client.schema).slice(0, 16)}`;
  }

  /** Calls `arrived` when another handle says that it has persisted records of `place`. */
  listen(place: OutboxPlace, arrived: () => void): Disposable {
    const listener: Listener = { lane: undefined, arrived };
    this.#listeners.add(listener);
    this.#lanes.of(place, this.#over.signal).then(
      (lane) => (listener.lane = lane),
      // It is woken for every lane then.
      () => {},
    );
    this.#hearing ??= this.#hear();
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Apart from `listen`, whose listener its functions would keep alive. */
  #hear(): Hearing {
    return this.#client.listen(this.#channel, {
      onNotified: (payload) => this.#heard(payload),
      onHearing: () => this.#heard(ANY),
    });
  }

  /** Tells the others, soon, if there are any. */
  tell(lanes: Iterable<number>): void {
    if (!this.#instances.hasOthers || this.#over.signal.aborted) return;
    for (const lane of lanes) this.#untold.add(lane);
    this.#telling ??= this.#tellAll().finally(() => (this.#telling = undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error("closed"));
    this.#hearing?.[Symbol.dispose]();
    this.#listeners.clear();
    await this.#telling;
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.size > 0) {
      const lanes = this.#untold.size > MAX_NAMED ? ANY : [...this.#untold].join(",");
      this.#untold = new Set();
      const values = [this.#channel, `${this.#self} ${lanes}`];
      const statement = { what: "telling of new records", text: "SELECT pg_notify($1, $2)", values };
      const bound = AbortSignal.any([this.#over.signal, AbortSignal.timeout(TELL_TIMEOUT_MS)]);
      await this.#client.query(statement, bound).catch(() => {});
      await this.#clock.delay(PAUSE_MS, this.#over.signal).catch(() => {});
    }
  }

  #heard(payload: string): void {
    const [teller, said = ANY] = payload.split(" ");
    if (teller === this.#self) return;
    const lanes = said === ANY ? undefined : new Set(said.split(",").map(Number));
    for (const { lane, arrived } of this.#listeners) {
      if (lanes === undefined || lane === undefined || lanes.has(lane.lane)) arrived();
    }
  }
}
