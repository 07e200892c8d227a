import { type MemoryDlq, openMemoryDlq } from "@bridge/dlq-memory";
import {
  BridgeError,
  type DeadLetter,
  type DeadLetterFilter,
  type DeleteOptions,
  type DlqStore,
  type TakenBack,
} from "@bridge/ports";
import { SpoiledDeadLetter } from "@bridge/ports/internal";
import type { Auditor } from "../run/auditor.ts";
import type { Moments } from "../run/moments.ts";
import { InstanceClock } from "../time/instance-clock.ts";
import type { Owner } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import { numberIn } from "./broker-session.ts";
import { dlqParts, type KeptLetters, NEVER } from "./dlq-parts.ts";
import { EPOCH } from "./publication.ts";
import { Remote, type RemoteOptions } from "./remote.ts";

export interface DeadLettersOptions extends Omit<RemoteOptions, "name"> {
  readonly trace: Trace;
  readonly auditor: Auditor;
  readonly moments?: Pick<Moments, "comes">;
  /** Whether it has every optional part of a store: pages by key, counts by groups, marks, a trash and jobs. */
  readonly parts?: boolean | undefined;
  /** Whether its counts by groups are estimates. */
  readonly estimates?: boolean | undefined;
}

/** What the world knows about an entry. */
export interface Letter extends Pick<DeadLetter, "bindingId" | "category" | "errorCode"> {
  readonly number: number;
}

const MOST_ENTRIES = 100_000;

/** A store of dead letters behind a network: its content outlives the instances, and its answers may get lost. */
export class DeadLetters implements KeptLetters {
  readonly service: Remote;
  readonly options: DeadLettersOptions;
  readonly kept: MemoryDlq;
  /** Entries that an operator wants deleted, by an instance. */
  readonly unwanted = new Set<string>();
  readonly #entries = new Map<string, Letter>();
  readonly #spoiled = new Set<string>();
  /** What can be restored, by the name of its batch. */
  readonly #trash = new Map<string, Map<string, Letter>>();

  constructor(options: DeadLettersOptions) {
    this.options = options;
    this.service = new Remote({ ...options, name: "dlq" });
    const server: Owner = { alive: true, pending: 0 };
    const clock = new InstanceClock({ time: options.time, owner: server, epoch: EPOCH, rate: 1, phase: () => 0 });
    this.kept = openMemoryDlq({ maxEntries: MOST_ENTRIES, clock });
  }

  /** The oldest entries, at most `count`. */
  oldest(count: number): ReadonlyMap<string, Letter> {
    return new Map([...this.#entries].slice(0, count));
  }

  /** What is kept of the one that is the oldest but so many is changed. Its columns are as they were. */
  spoil(nth: number): void {
    const [id] = [...this.oldest(nth).keys()].slice(-1);
    if (id === undefined) return;
    this.options.trace.add(`DLQ: ${id} is spoiled`);
    this.#spoiled.add(id);
  }

  /** An operator wants these entries deleted. The answer is not checked here. */
  discard(owner: Owner, ids: readonly string[]): void {
    const work = (): Promise<void> => this.#delete(ids, "discarded").then(() => {});
    this.service.ask(owner, NEVER, { work }).catch(() => {});
  }

  /** Nobody wants any of it, who is to have another store in its place. */
  discardAll(owner: Owner): void {
    if (this.#entries.size > 0) this.discard(owner, [...this.#entries.keys()]);
  }

  trashed(batch: string): readonly string[] {
    return [...(this.#trash.get(batch)?.keys() ?? [])];
  }

  /** Moves them to the trash, for a purge that can be undone. */
  async discardFor(ids: readonly string[], batch: string, until: number): Promise<ReadonlySet<string>> {
    const moved = await this.kept.admin.trash.move(ids, batch, until, NEVER);
    const trash = this.#trash.get(batch) ?? new Map<string, Letter>();
    this.#trash.set(batch, trash);
    for (const id of moved) {
      const letter = this.#left(id, "put into the trash");
      if (letter === undefined) continue;
      trash.set(id, letter);
      this.options.auditor.jobs.trashed(batch);
      this.options.auditor.letters.discarded(letter.number, letter.bindingId);
    }
    return moved;
  }

  /** Undoes a purge. Entries whose time is over do not come back. */
  async takeBack(batch: string, limit: number): Promise<TakenBack> {
    const { trace, auditor } = this.options;
    const before = this.#trash.get(batch) ?? new Map<string, Letter>();
    const there = new Set(this.#entries.keys());
    const back = await this.kept.admin.trash.restore(batch, limit, NEVER);
    for (const [id, letter] of before) {
      if (there.has(id) || (await this.kept.get(id, NEVER)) === undefined) continue;
      before.delete(id);
      trace.add(`DLQ: ${letter.number} for ${letter.bindingId} is back`);
      this.#entries.set(id, letter);
      auditor.letters.takenBack(letter.number, letter.bindingId);
      auditor.jobs.letters.back(id);
    }
    // The others had been written again: they have left the trash, too.
    if (back.restored + back.present < limit) before.clear();
    return back;
  }

  /** The store as one instance sees it. */
  store(owner: Owner): DlqStore {
    const { trace, auditor, moments, parts = false } = this.options;
    let closed = false;
    const service: Pick<Remote, "ask"> = {
      ask: (by, signal, question) =>
        closed
          ? Promise.reject(new BridgeError("UNAVAILABLE", "the DLQ is closed"))
          : this.service.ask(by, signal, question),
    };
    const { kept } = this;
    const { trash, ...more } = dlqParts(this, service, owner);
    return {
      put: (entry, signal) =>
        service.ask(owner, signal, {
          writes: true,
          work: () => {
            const number = numberIn(entry.envelope.payload);
            trace.add(`DLQ keeps ${number} for ${entry.bindingId}: ${entry.errorCode}`);
            const isNew = !this.#entries.has(entry.id);
            auditor.letters.kept(entry, number, isNew);
            auditor.jobs.kept(entry, isNew);
            const { bindingId, category, errorCode } = entry;
            if (isNew) this.#entries.set(entry.id, { number, bindingId, category, errorCode });
            if (isNew) this.#spoiled.delete(entry.id);
            moments?.comes("kept", owner);
            return kept.put(entry, NEVER);
          },
        }),
      get: (id, signal) => {
        auditor.jobs.fetches(owner, id);
        return service.ask(owner, signal, { work: () => this.#get(id) });
      },
      list: (filter, page, signal) => service.ask(owner, signal, { work: () => kept.list(filter, page, NEVER) }),
      count: (cap, signal) => service.ask(owner, signal, { work: () => kept.count(cap, NEVER) }),
      admin: {
        delete: (ids, signal, options) =>
          service.ask(owner, signal, {
            writes: true,
            work: () => {
              if (options?.delivered === true) moments?.comes("redriven", owner);
              return this.#delete(ids, "deleted", options);
            },
          }),
        deleteWhere: (filter, limit, signal) =>
          service.ask(owner, signal, { work: () => this.#deleteWhere(filter, limit) }),
        ...(parts && { trash }),
      },
      ...(parts && more),
      async [Symbol.asyncDispose]() {
        closed = true;
      },
    };
  }

  async #get(id: string): Promise<DeadLetter | undefined> {
    const entry = await this.kept.get(id, NEVER);
    if (entry !== undefined && this.#spoiled.has(id)) throw new SpoiledDeadLetter(id);
    return entry;
  }

  async #deleteWhere(filter: DeadLetterFilter, limit = MOST_ENTRIES): Promise<number> {
    const heads = await this.kept.list(filter, { limit, offset: 0 }, NEVER);
    const ids = heads.map(({ id }) => id);
    return (await this.#delete(ids, "discarded")).size;
  }

  async #delete(
    ids: readonly string[],
    why: "deleted" | "discarded",
    options: DeleteOptions = {},
  ): Promise<ReadonlySet<string>> {
    const { auditor } = this.options;
    const { delivered = false } = options;
    if (delivered) for (const id of ids) this.#settle(id);
    const isPurged = (id: string): boolean => !delivered && (auditor.jobs.mayErase(id) || this.unwanted.has(id));
    const purged = new Set(why === "deleted" ? ids.filter(isPurged) : ids);
    const deleted = await this.kept.admin.delete(ids, NEVER, options);
    for (const id of deleted) {
      const letter = this.#left(id, purged.has(id) ? "discarded" : why);
      // A redrive of it may have been quicker.
      if (letter !== undefined && this.unwanted.has(id)) auditor.letters.deletions++;
      if (letter !== undefined)
        auditor.letters[purged.has(id) ? "discarded" : "deleted"](letter.number, letter.bindingId);
    }
    return deleted;
  }

  /** Deletes without a trace in the trash: the entry was delivered. */
  #settle(id: string): void {
    for (const batch of this.#trash.values()) batch.delete(id);
  }

  #left(id: string, how: string): Letter | undefined {
    const { trace, auditor } = this.options;
    const letter = this.#entries.get(id);
    if (letter === undefined) return undefined;
    this.#entries.delete(id);
    auditor.jobs.left(id);
    trace.add(`DLQ: ${letter.number} for ${letter.bindingId} is ${how}`);
    return letter;
  }
}
