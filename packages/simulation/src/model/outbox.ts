import { openMemoryOutbox } from "@bridge/memory";
import {
  BridgeError,
  type ClaimEnd,
  type OutboxClaim,
  type OutboxPlace,
  type OutboxRecord,
  type OutboxStatus,
  type OutboxStore,
  type PersistResult,
} from "@bridge/ports";
import { plannedBinding } from "../plan/change.ts";
import type { OutboxHabits } from "../plan/plan.ts";
import type { Auditor } from "../run/auditor.ts";
import type { Moments } from "../run/moments.ts";
import { InstanceClock } from "../time/instance-clock.ts";
import type { Owner } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import { numberIn } from "./broker-session.ts";
import { RedriveAsks } from "./redrive-asks.ts";
import { Remote, type RemoteOptions } from "./remote.ts";

export interface OutboxOptions extends Omit<RemoteOptions, "name" | "habits"> {
  readonly trace: Trace;
  readonly auditor: Auditor;
  readonly moments?: Pick<Moments, "comes">;
  readonly habits: OutboxHabits;
  /** How long finished records stay as evidence. Default: an hour. */
  readonly retentionMs?: number;
}

interface Kept {
  readonly record: OutboxRecord;
  readonly since: number;
  status: OutboxStatus;
  attempts: number;
  retryAt: number;
  /** Of a loan that has not been ended. */
  token: string | undefined;
  /** To whom, and until when. */
  lentTo: Owner | undefined;
  lentUntil: number;
}

/** A record that redrives a dead letter. */
type Replay = OutboxRecord & { readonly entryId: string };

interface Listener {
  readonly owner: Owner;
  readonly place: OutboxPlace;
  readonly arrived: () => void;
}

const NEVER = new AbortController().signal;
const RETENTION_MS = 3_600_000;
/** The error for a process that opens a file which another process has open. */
export const IN_USE = "is in use: only one process at a time may open it";

/**
 * The real memory store, where it outlives the instances: as a server that they share, or as a file that one instance
 * opens at a time, whose loans end with it.
 */
export class Outbox {
  readonly service: Remote;
  /** Told whenever an instance asks it for something. */
  asked: (by: Owner) => void = () => {};
  readonly #options: OutboxOptions;
  readonly #listeners = new Set<Listener>();
  /** In the order in which they were persisted. */
  readonly #kept = new Map<string, Kept>();
  /** The same, by the message and the binding. */
  readonly #legs = new Map<string, Kept[]>();
  readonly #server: Owner = { alive: true, pending: 0 };
  readonly #redriveAsks = new RedriveAsks();
  readonly #keptFrom = new WeakSet<Owner>();
  #unfinished = 0;
  #store: OutboxStore;
  /** Of a file: who has it open, and by which opening. */
  #holder: { readonly owner: Owner; readonly opening: object } | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.service = new Remote({ ...options, name: "outbox", local: !options.habits.shared });
    this.#store = this.#empty();
  }

  /** Whether one of its records is on loan to that instance. */
  lends(to: Owner, number: number, binding: string): boolean {
    const { now } = this.#options.time;
    const kept = this.#legs.get(`${number} ${plannedBinding(binding)}`) ?? [];
    return kept.some(({ token, lentTo, lentUntil }) => token !== undefined && lentTo === to && now <= lentUntil);
  }

  get empty(): boolean {
    return this.#unfinished === 0 && !this.service.writes;
  }

  /** The oldest unfinished records, at most `count`. */
  oldest(count: number): ReadonlyMap<string, { readonly number: number; readonly bindingId: string }> {
    const found = new Map<string, { readonly number: number; readonly bindingId: string }>();
    for (const [id, { record, status }] of this.#kept) {
      if (found.size === count) break;
      const number = numberIn(record.envelope.payload);
      if (status === "pending") found.set(id, { number, bindingId: record.bindingId });
    }
    return found;
  }

  /** The unfinished records of one place. */
  *waitingAt(
    routeId: string,
    bindingId: string,
  ): Iterable<{ readonly id: string; readonly number: number; readonly bindingId: string }> {
    for (const { record, status } of this.#kept.values())
      if (status === "pending" && record.routeId === routeId && record.bindingId === bindingId)
        yield { id: record.id, number: numberIn(record.envelope.payload), bindingId };
  }

  /** The messages that wait for these routes since before then. What operators redrive is in the DLQ as well. */
  *waiting(routes: readonly string[], before: number): Iterable<number> {
    for (const { record, status, since } of this.#kept.values())
      if (status === "pending" && since < before && record.entryId === undefined && routes.includes(record.routeId))
        yield numberIn(record.envelope.payload);
  }

  /** The store as one instance sees it. */
  async open(owner: Owner, signal: AbortSignal): Promise<OutboxStore> {
    const { shared } = this.#options.habits;
    const opening = {};
    await this.service.ask(owner, signal, {
      work: async () => {
        // An abandoned opening must not lock the file: it is closed as soon as it is open.
        if (shared || !owner.alive || signal.aborted) return;
        // The lock is the operating system's: a frozen process keeps it, a dead one does not.
        if (this.#isOthers(owner)) {
          this.#keptFrom.add(owner);
          throw new BridgeError("UNAVAILABLE", `the outbox ${IN_USE}`, { charged: false });
        }
        this.#holder = { owner, opening };
        this.#keptFrom.delete(owner);
        await this.#reopen();
      },
    });
    const isHeld = (): boolean => this.#holder?.opening === opening;
    const open = (): boolean => shared || (owner.alive && isHeld());
    return this.#storeOf(owner, open, () => {
      if (isHeld()) this.#holder = undefined;
    });
  }

  /** Whether it was refused the file because another process has it, and has not opened it since. */
  isKeptFrom(owner: Owner): boolean {
    return this.#keptFrom.has(owner);
  }

  #isOthers(owner: Owner): boolean {
    return this.#holder !== undefined && this.#holder.owner !== owner && this.#holder.owner.alive;
  }

  #storeOf(owner: Owner, open: () => boolean, close: () => void): OutboxStore {
    const { service } = this;
    const { shared } = this.#options.habits;
    let closed = false;
    const ask = <Answer>(signal: AbortSignal, writes: boolean, work: (torn: boolean) => Promise<Answer>) => {
      if (closed) return Promise.reject(new BridgeError("UNAVAILABLE", "the outbox is closed"));
      this.asked(owner);
      return service.ask(owner, signal, {
        writes,
        work: (torn) =>
          open() ? work(torn) : Promise.reject(new BridgeError("UNAVAILABLE", "the outbox is another process's")),
      });
    };
    return {
      shared,
      persist: (records, signal) => ask(signal, true, () => this.#persist(owner, records)),
      claim: (request, signal) =>
        ask(signal, false, () =>
          this.#store.claim(request, NEVER).then((claims) => this.#lent(owner, request.loanMs, claims)),
        ),
      claimOne: (id, loanMs, signal) =>
        ask(signal, false, async () => {
          const claim = await this.#store.claimOne(id, loanMs, NEVER);
          if (claim !== undefined) this.#lent(owner, loanMs, [claim]);
          return claim;
        }),
      finish: (ends, signal) =>
        ask(signal, true, (torn) => this.#finish(owner, torn ? ends.slice(0, Math.ceil(ends.length / 2)) : ends)),
      status: (id, signal) => ask(signal, false, () => this.#store.status(id, NEVER)),
      redriving: (entryId, signal) =>
        ask(signal, false, async () => {
          const there = await this.#store.redriving(entryId, NEVER);
          this.#redriveAsks.isTold(owner, entryId, there);
          return there;
        }),
      backlog: (signal) => ask(signal, false, () => this.#store.backlog(NEVER)),
      blockedKeys: (filter, limit, signal) =>
        ask(signal, false, async () => (await this.#store.blockedKeys?.(filter, limit, NEVER)) ?? []),
      list: (filter, page, signal) => ask(signal, false, () => this.#store.list(filter, page, NEVER)),
      ...(shared && {
        onArrival: (place: OutboxPlace, arrived: () => void) => this.#listen({ owner, place, arrived }),
      }),
      health: () => ({
        fault: service.down === "full" ? "no room" : this.#store.health?.().fault,
        setAside: [],
      }),
      [Symbol.asyncDispose]: async () => {
        closed = true;
        close();
      },
    };
  }

  async #persist(owner: Owner, records: readonly OutboxRecord[]): Promise<readonly PersistResult[]> {
    const { trace, auditor } = this.#options;
    const results = await this.#store.persist(records, NEVER);
    for (const [index, record] of records.entries()) {
      const kind = results[index]?.kind;
      const number = numberIn(record.envelope.payload);
      trace.add(`outbox: ${number} for ${record.bindingId} is ${kind}`);
      if (kind !== "persisted") continue;
      this.#keep(number, record);
      this.#unfinished++;
      if (record.entryId === undefined) auditor.outbox.persisted(number, record.bindingId);
      else this.#replays(owner, number, { ...record, entryId: record.entryId });
      this.#tellOthers(owner, record);
    }
    for (const [index, { entryId }] of records.entries())
      if (entryId !== undefined && results[index]?.kind === "persisted") this.#redriveAsks.enters(owner, entryId);
    if (results.some(({ kind }) => kind === "persisted")) this.#options.moments?.comes("persisted", owner);
    return results;
  }

  #keep(number: number, record: OutboxRecord): void {
    const loan = { token: undefined, lentTo: undefined, lentUntil: 0 };
    const kept: Kept = {
      record,
      since: this.#options.time.now,
      status: "pending",
      attempts: 0,
      retryAt: 0,
      ...loan,
    };
    this.#kept.set(record.id, kept);
    const leg = `${number} ${plannedBinding(record.bindingId)}`;
    this.#legs.set(leg, [...(this.#legs.get(leg) ?? []), kept]);
  }

  /**
   * Of one dead letter one record at a time is on its way to a binding. One that was edited is another message: two instances that ask
   * in the same moment may both enter theirs.
   */
  #replays(owner: Owner, number: number, { id, entryId, bindingId, payloadDigest }: Replay): void {
    const { auditor } = this.#options;
    auditor.outbox.replays(number, bindingId);
    const mayBeTwo = this.#redriveAsks.mayEnter(owner, entryId);
    for (const { record, status } of this.#kept.values()) {
      const isOther = status === "pending" && record.id !== id && record.entryId === entryId;
      if (!isOther || record.bindingId !== bindingId) continue;
      if (record.payloadDigest === payloadDigest || !mayBeTwo)
        auditor.violated(`message ${number} is redriven to ${bindingId} while a redrive of it is on its way`);
    }
  }

  #lent(to: Owner, loanMs: number, claims: readonly OutboxClaim[]): readonly OutboxClaim[] {
    for (const { record, token } of claims) {
      const kept = this.#of(record.id);
      if (kept.token !== undefined)
        this.#options.auditor.outbox.lapsed(numberIn(record.envelope.payload), record.bindingId);
      kept.token = token;
      kept.lentTo = to;
      kept.lentUntil = this.#options.time.now + loanMs;
    }
    return claims;
  }

  async #finish(owner: Owner, ends: readonly ClaimEnd[]): Promise<readonly boolean[]> {
    const { trace, auditor, time } = this.#options;
    const entered = await this.#store.finish(ends, NEVER);
    for (const [index, { id, outcome }] of ends.entries()) {
      const kept = this.#kept.get(id);
      if (entered[index] !== true || kept === undefined) continue;
      const { envelope, bindingId } = kept.record;
      const number = numberIn(envelope.payload);
      trace.add(`outbox: ${number} for ${bindingId} is ${outcome.kind}`);
      kept.token = undefined;
      if (outcome.kind === "retry") {
        kept.attempts = outcome.attempts;
        kept.retryAt = time.now + outcome.delayMs;
      } else {
        kept.status = outcome.kind;
        this.#unfinished--;
        auditor.outbox.ended(number, bindingId, outcome.kind, kept.record.entryId !== undefined);
      }
    }
    if (entered.includes(true)) this.#options.moments?.comes("ended", owner);
    return entered;
  }

  /** A file is opened again: what it holds is as it was, but nothing is on loan. */
  async #reopen(): Promise<void> {
    const { auditor, time } = this.#options;
    // Entered once more, the end of a record that is forgotten would be known again.
    for (const id of this.#kept.keys()) if ((await this.#store.status(id, NEVER)) === undefined) this.#kept.delete(id);
    await this.#store[Symbol.asyncDispose]();
    const store = (this.#store = this.#empty());
    for (const kept of this.#kept.values()) {
      const { record, status, attempts, retryAt } = kept;
      if (kept.token !== undefined) auditor.outbox.lapsed(numberIn(record.envelope.payload), record.bindingId);
      kept.token = undefined;
      await store.persist([record], NEVER);
      if (status === "pending" && attempts === 0 && retryAt <= time.now) continue;
      const claim = await store.claimOne(record.id, 1, NEVER);
      const delayMs = Math.max(0, retryAt - time.now);
      const outcome = status === "pending" ? ({ kind: "retry", attempts, delayMs } as const) : { kind: status };
      if (claim !== undefined) await store.finish([{ id: record.id, token: claim.token, outcome }], NEVER);
    }
  }

  #empty(): OutboxStore {
    const { time, dice, habits, retentionMs = RETENTION_MS } = this.#options;
    const clock = new InstanceClock({ time, owner: this.#server, epoch: 0, rate: 1, phase: () => 0 });
    return openMemoryOutbox({ maxRecords: habits.maxRecords, retentionMs, clock, random: dice });
  }

  #listen(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Those who are connected; some it misses. */
  #tellOthers(by: Owner, { routeId, bindingId }: OutboxRecord): void {
    const { time, dice, habits } = this.#options;
    for (const { owner, place, arrived } of this.#listeners) {
      if (owner === by || place.routeId !== routeId || place.bindingId !== bindingId || dice.chance(0.1)) continue;
      time.reach(owner, time.now + dice.next() * habits.latencyMs, arrived);
    }
  }

  #of(id: string): Kept {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw new Error(`the outbox has lent ${id}, which it does not hold`);
    return kept;
  }
}
