import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DeadLetterFilter, type DlqStore } from "@bridge/ports";
import type { Auditor } from "../run/auditor.ts";
import type { Owner } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import { numberIn } from "./broker-session.ts";
import { Remote, type RemoteOptions } from "./remote.ts";

export interface DeadLettersOptions extends Omit<RemoteOptions, "name"> {
  readonly trace: Trace;
  readonly auditor: Auditor;
}

const MOST_ENTRIES = 100_000;

/** A store of dead letters behind a network: what it holds outlives the instances, and its answers may not come. */
export class DeadLetters {
  readonly service: Remote;
  readonly #options: DeadLettersOptions;
  readonly #entries = new Map<string, { readonly number: number; readonly bindingId: string }>();
  readonly #kept = openMemoryDlq({ maxEntries: MOST_ENTRIES });

  constructor(options: DeadLettersOptions) {
    this.#options = options;
    this.service = new Remote({ ...options, name: "dlq" });
  }

  /** Up to so many entries, the oldest first. */
  oldest(count: number): ReadonlyMap<string, { readonly number: number; readonly bindingId: string }> {
    return new Map([...this.#entries].slice(0, count));
  }

  /** An operator wants these no more; whether it was done is told to nobody here. */
  discard(owner: Owner, ids: readonly string[]): void {
    const work = (): Promise<void> => this.#delete(ids, "discarded").then(() => {});
    this.service.ask(owner, new AbortController().signal, { work }).catch(() => {});
  }

  async #deleteWhere(filter: DeadLetterFilter, limit = MOST_ENTRIES): Promise<number> {
    const { signal } = new AbortController();
    const heads = await this.#kept.list(filter, { limit, offset: 0 }, signal);
    const ids = heads.map(({ id }) => id);
    return (await this.#delete(ids, "discarded")).size;
  }

  async #delete(ids: readonly string[], why: "deleted" | "discarded"): Promise<ReadonlySet<string>> {
    const { trace, auditor } = this.#options;
    const deleted = (await this.#kept.admin?.delete(ids, new AbortController().signal)) ?? new Set();
    for (const id of deleted) {
      const entry = this.#entries.get(id);
      if (entry === undefined) continue;
      this.#entries.delete(id);
      trace.add(`DLQ: ${entry.number} for ${entry.bindingId} is ${why}`);
      auditor[why](entry.number, entry.bindingId);
    }
    return deleted;
  }

  /** As one instance has it. */
  store(owner: Owner): DlqStore {
    const { trace, auditor } = this.#options;
    let closed = false;
    const service: Pick<Remote, "ask"> = {
      ask: (by, signal, question) =>
        closed
          ? Promise.reject(new BridgeError("UNAVAILABLE", "the DLQ is closed"))
          : this.service.ask(by, signal, question),
    };
    const kept = this.#kept;
    const own = new AbortController().signal;
    return {
      put: (entry, signal) =>
        service.ask(owner, signal, {
          writes: true,
          work: () => {
            const number = numberIn(entry.envelope.payload);
            trace.add(`DLQ keeps ${number} for ${entry.bindingId}: ${entry.errorCode}`);
            auditor.kept(entry, number);
            if (!this.#entries.has(entry.id)) this.#entries.set(entry.id, { number, bindingId: entry.bindingId });
            return kept.put(entry, own);
          },
        }),
      get: (id, signal) => service.ask(owner, signal, { work: () => kept.get(id, own) }),
      list: (filter, page, signal) => service.ask(owner, signal, { work: () => kept.list(filter, page, own) }),
      count: (cap, signal) => service.ask(owner, signal, { work: () => kept.count(cap, own) }),
      admin: {
        delete: (ids, signal) =>
          service.ask(owner, signal, {
            work: () => this.#delete(ids, "deleted"),
          }),
        deleteWhere: (filter, limit, signal) =>
          service.ask(owner, signal, { work: () => this.#deleteWhere(filter, limit) }),
      },
      async [Symbol.asyncDispose]() {
        closed = true;
      },
    };
  }
}
