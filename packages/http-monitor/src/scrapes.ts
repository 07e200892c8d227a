import { PartedBody } from "@bridge/http-kit";
import { type Clock } from "@bridge/ports";
import { answerTurns } from "@bridge/ports/internal";
import { expositionParts, type Family } from "@bridge/telemetry";

/** What the counters of a route, of its legs and its parts are kept in while they are told, about. */
const ROUTE_BYTES = 1_536;
const REST_BYTES = 65_536;

export interface ScrapesOptions {
  /** Everything that is counted, of one moment after the call; or text of it. */
  readonly read: () => Promise<readonly Family[]> | Promise<string> | string;
  readonly routes: () => number;
  readonly clock: Clock;
}

/** What is counted, as text that is written while it is taken. Counters are of one moment; who asks before that shares it. */
export class Scrapes {
  readonly #options: ScrapesOptions;
  #coming: Promise<PartedBody | string> | undefined;

  constructor(options: ScrapesOptions) {
    this.#options = options;
  }

  next(): Promise<PartedBody | string> {
    this.#coming ??= this.#read().finally(() => (this.#coming = undefined));
    return this.#coming;
  }

  async #read(): Promise<PartedBody | string> {
    const { read, routes, clock } = this.#options;
    // Those that come while answers before them have their turns are told the same.
    await answerTurns(clock).next();
    const families = await read();
    if (typeof families === "string") return families;
    const keptBytes = REST_BYTES + routes() * ROUTE_BYTES;
    return new PartedBody({ parts: () => expositionParts(families), keptBytes, clock });
  }
}
