import { hash } from "node:crypto";
import type { Clock, OutboxPlace } from "@bridge/ports";
import type { Hearing } from "../client/listen.ts";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Place, Places } from "./places.ts";

/**
 * Others are told no more often: the server makes those that notify wait for one another, and who has just been woken
 * looks again anyway.
 */
const PAUSE_MS = 50;
const TELL_TIMEOUT_MS = 2_000;
/** So many places are told of by name; more go as "any". */
const MAX_NAMED = 100;
const ANY = "*";
/** Wakes nobody. */
const NONE = "-";

interface Listener {
  readonly name: string;
  readonly arrived: () => void;
}

/**
 * Tells other instances of new records, and hears of theirs. Apart from the writes themselves, so that none waits for
 * it; what gets lost, the drains' own looks make up for.
 */
export class Arrivals implements AsyncDisposable {
  readonly #client: PostgresClient;
  readonly #places: Places;
  readonly #clock: Clock;
  readonly #self: string;
  readonly #channel: string;
  readonly #listeners = new Set<Listener>();
  readonly #over = new AbortController();
  #untold = new Set<string>();
  #telling: Promise<void> | undefined;
  #hearing: Hearing | undefined;
  /** Whether another one has been heard: whoever is alone, or hears nobody, tells nothing. */
  #hasOthers = false;

  constructor(
    client: PostgresClient,
    parts: { readonly places: Places; readonly clock: Clock; readonly self: string },
  ) {
    this.#client = client;
    this.#places = parts.places;
    this.#clock = parts.clock;
    this.#self = parts.self;
    // The name of a schema may be as long as that of a channel.
    this.#channel = `bridge_outbox_${hash("sha256", client.schema).slice(0, 16)}`;
  }

  /** Calls `arrived` when another handle says that it has persisted records of `place`. */
  listen(place: OutboxPlace, arrived: () => void): Disposable {
    const listener: Listener = { name: nameOf(this.#places.of(place)), arrived };
    this.#listeners.add(listener);
    this.#hearing ??= this.#hear();
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Who begins to hear says so, and who hears that for the first time answers: so each knows of the other. Apart from
   * `listen`, whose listener its functions would keep alive.
   */
  #hear(): Hearing {
    return this.#client.listen(this.#channel, {
      onNotified: (payload) => this.#heard(payload),
      onHearing: () => {
        this.#wake(ANY);
        this.#tell([NONE]);
      },
    });
  }

  /** Tells the others, soon, if there are any. */
  tell(places: Iterable<Place>): void {
    if (this.#hasOthers) this.#tell([...places].map(nameOf));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error("closed"));
    this.#hearing?.[Symbol.dispose]();
    this.#listeners.clear();
    await this.#telling;
  }

  #tell(names: readonly string[]): void {
    if (this.#over.signal.aborted) return;
    for (const name of names) this.#untold.add(name);
    this.#telling ??= this.#tellAll().finally(() => (this.#telling = undefined));
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.size > 0) {
      const names = this.#untold.size > MAX_NAMED ? ANY : [...this.#untold].join(",");
      this.#untold = new Set();
      const values = [this.#channel, `${this.#self} ${names}`];
      const statement = { what: "telling of new records", text: "SELECT pg_notify($1, $2)", values };
      const bound = AbortSignal.any([this.#over.signal, AbortSignal.timeout(TELL_TIMEOUT_MS)]);
      await this.#client.query(statement, bound).catch(() => {});
      await this.#clock.delay(PAUSE_MS, this.#over.signal).catch(() => {});
    }
  }

  #heard(payload: string): void {
    const [teller, said = ANY] = payload.split(" ");
    if (teller === this.#self) return;
    if (!this.#hasOthers) this.#tell([NONE]);
    this.#hasOthers = true;
    this.#wake(said);
  }

  #wake(said: string): void {
    const names = said === ANY ? undefined : new Set(said.split(","));
    for (const { name, arrived } of this.#listeners) if (names?.has(name) !== false) arrived();
  }
}

function nameOf({ hash: place }: Place): string {
  return place.toString("hex");
}
