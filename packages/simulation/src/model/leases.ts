import { openMemoryLeases } from "@bridge/memory";
import { BridgeError, type LeaseRecord, type LeaseStore } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import { Remote, type RemoteOptions } from "./remote.ts";

export interface LeasesOptions extends Omit<RemoteOptions, "name"> {
  readonly trace: Trace;
}

const NEVER = new AbortController().signal;
let names = 0;

/** A store of leases behind a network, which all instances share. */
export class Leases {
  readonly service: Remote;
  readonly #trace: Trace;
  readonly #kept: LeaseStore;
  #last: LeaseRecord | undefined;

  constructor(options: LeasesOptions) {
    this.#trace = options.trace;
    // Stores of one name share their leases, and each world has its own.
    this.#kept = openMemoryLeases({ name: `simulation ${names++}` });
    this.service = new Remote({ ...options, name: "leases" });
  }

  /** Who has the lease, as the store sees it: the name of an instance, or nothing when it is free. */
  get holder(): string | undefined {
    return this.#last?.holder.split("/", 1)[0];
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
            if (made && this.#last?.token !== next.token) this.#trace.add(`lease is taken by ${next.holder}`);
            if (made) this.#last = next;
            return made;
          },
        }),
      async [Symbol.asyncDispose]() {
        closed = true;
      },
    };
  }

  /** Its world is over. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept[Symbol.asyncDispose]();
  }
}
