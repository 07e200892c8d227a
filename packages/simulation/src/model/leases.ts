import { openMemoryLeases } from "@bridge/memory";
import { BridgeError, type LeaseRecord, type LeaseStore } from "@bridge/ports";
import type { Auditor } from "../run/auditor.ts";
import type { Owner } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import { Remote, type RemoteOptions } from "./remote.ts";

export interface LeasesOptions extends Omit<RemoteOptions, "name"> {
  readonly trace: Trace;
  readonly auditor: Auditor;
}

/** A waiting instance's clock may be this much faster than the store's. */
const DRIFT = 0.005;
const NEVER = new AbortController().signal;
let names = 0;

/** A store of leases behind a network, which all instances share. */
export class Leases {
  readonly service: Remote;
  readonly #options: LeasesOptions;
  readonly #kept: LeaseStore;
  #last: LeaseRecord | undefined;
  #writtenAt = 0;

  constructor(options: LeasesOptions) {
    this.#options = options;
    // Stores of one name share their leases, and each world has its own.
    this.#kept = openMemoryLeases({ name: `simulation ${names++}` });
    this.service = new Remote({ ...options, name: "leases" });
  }

  /** The name of the instance that holds the lease, as the store sees it; `undefined` when it is free. */
  get holder(): string | undefined {
    return nameOf(this.#last);
  }

  /** When it ends, as the store sees it, unless renewed. */
  get until(): number {
    return this.#writtenAt + (this.#last?.ttlMs ?? 0);
  }

  store(owner: Owner): LeaseStore {
    let closed = false;
    const service: Pick<Remote, "ask"> = {
      ask: (by, signal, question) =>
        closed
          ? Promise.reject(new BridgeError("UNAVAILABLE", "the store of leases is closed"))
          : this.service.ask(by, signal, question),
    };
    const kept = this.#kept;
    return {
      read: (key, signal) => service.ask(owner, signal, { work: () => kept.read(key, NEVER) }),
      replace: (key, expected, next, signal) =>
        service.ask(owner, signal, {
          writes: true,
          work: async () => {
            const made = await kept.replace(key, expected, next, NEVER);
            if (made) this.#enter(owner, next);
            return made;
          },
        }),
      async [Symbol.asyncDispose]() {
        closed = true;
      },
    };
  }

  #enter(by: Owner, next: LeaseRecord): void {
    const { trace, time } = this.#options;
    if (this.#last?.token !== next.token) trace.add(`lease is taken by ${next.holder}`);
    this.#compare(by, next);
    if (next.holder === "") this.#options.auditor.lease.releases(by);
    this.#last = next;
    this.#writtenAt = time.now;
  }

  /** Each holding has its own token, which only its holder writes under, and none begins while another lasts. */
  #compare(by: Owner, next: LeaseRecord): void {
    const { auditor, time } = this.#options;
    const last = this.#last;
    if (last === undefined) return;
    const holder = nameOf(last);
    if (next.token === last.token) {
      if (holder !== by.name)
        auditor.violated(`${by.name} writes under the token of ${holder === "" ? "a lease that is free" : holder}`);
      return;
    }
    if (next.token !== last.token + 1)
      auditor.violated(`${by.name} takes the lease under token ${next.token}, after ${last.token}`);
    const lastsMs = this.until - time.now;
    if (holder !== "" && holder !== by.name && lastsMs > last.ttlMs * DRIFT)
      auditor.violated(`${by.name} takes the lease that ${holder} has for another ${Math.round(lastsMs)} ms`);
  }

  /** Its world is over. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept[Symbol.asyncDispose]();
  }
}

function nameOf(record: LeaseRecord | undefined): string | undefined {
  return record?.holder.split("/", 1)[0];
}
