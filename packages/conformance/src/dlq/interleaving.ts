import assert from "node:assert/strict";
import type { DlqStore, MarkChange } from "@bridge/ports";
import { at, deadLetter } from "./dead-letters.ts";
import { later, marksOf, trashOf } from "./parts.ts";

const IDS = 4;
/** Fewer than an entry keeps. */
const MOST_NOTES = 15;

interface Known {
  /** Whether it has been written: then it is there, or in the trash, for good. */
  written: boolean;
  quarantined: boolean;
  assigned: boolean;
  /** Notes that were confirmed, and those of calls that were given up: they may be there. */
  readonly notes: Set<string>;
  readonly maybe: Set<string>;
}

type Call = (store: DlqStore, signal: AbortSignal) => Promise<void>;

/** A course of calls by two on a few entries, one after another, at the same time or given up, and what has to be left of it. */
export class Interleaving {
  readonly #stores: readonly DlqStore[];
  readonly #name: string;
  readonly #roll: (sides: number) => number;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, Known>();
  #made = 0;

  constructor(stores: readonly DlqStore[], name: string, roll: (sides: number) => number, signal: AbortSignal) {
    this.#stores = stores;
    this.#name = name;
    this.#roll = roll;
    this.#signal = signal;
    for (let i = 0; i < IDS; i++)
      this.#known.set(`${name}-${i}`, {
        written: false,
        quarantined: false,
        assigned: false,
        notes: new Set(),
        maybe: new Set(),
      });
  }

  /** One call, or some at the same time, of which some are given up in the middle. */
  async step(): Promise<void> {
    const count = this.#roll(3) === 0 ? 2 + this.#roll(3) : 1;
    if (count === 1 && this.#roll(4) > 0) return this.#sure(this.#call());
    await Promise.all(Array.from({ length: count }, () => this.#maybe(this.#call())));
  }

  /** Everything comes back: nothing is missing. */
  async end(): Promise<void> {
    const [store] = this.#stores as [DlqStore];
    for (let batch = 0; batch < IDS; batch++)
      for (;;) {
        const { restored, present } = await trashOf(store).restore(this.#batch(batch), 3, this.#signal);
        if (restored + present === 0) break;
      }
    for (const [id, known] of this.#known) {
      const entry = await store.get(id, this.#signal);
      if (!known.written) continue;
      assert.ok(entry !== undefined, `entry ${id} is lost`);
      const notes = entry.marks?.notes?.map(({ text }) => text) ?? [];
      for (const note of known.notes) assert.ok(notes.includes(note), `note ${note} of ${id} is lost`);
      for (const note of notes) assert.ok(known.notes.has(note) || known.maybe.has(note), `${note} is nobody's`);
      assert.equal(new Set(notes).size, notes.length, `a note of ${id} is there twice`);
      assert.deepEqual(
        entry.marks?.notes?.map((note) => note.at),
        entry.marks?.notes?.map((note) => note.at).toSorted((a, b) => a - b),
      );
      if (known.quarantined) assert.equal(entry.marks?.quarantined, true, `${id} is not quarantined any more`);
      if (known.assigned) assert.ok(entry.marks?.assignee !== undefined, `the assignee of ${id} is lost`);
    }
    assert.equal(await trashOf(store).count(10, this.#signal), 0, "something is left in the trash");
  }

  async #sure(call: Call): Promise<void> {
    await call(this.#store(), this.#signal);
  }

  /** Given up after some turns of the loop, now and then. */
  async #maybe(call: Call): Promise<void> {
    const end = new AbortController();
    const turns = this.#roll(2) === 0 ? this.#roll(40) : Infinity;
    const done = call(this.#store(), AbortSignal.any([end.signal, this.#signal])).catch((error: unknown) => {
      if (!end.signal.aborted) throw error;
    });
    const state = { over: false };
    const ended = done.finally(() => void (state.over = true));
    ended.catch(() => {
      // It is told when it is awaited.
    });
    for (let turn = 0; turn < turns && !state.over; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (!state.over) end.abort(new Error("given up"));
    await ended;
  }

  #call(): Call {
    const nth = this.#made++;
    const id = `${this.#name}-${this.#roll(IDS)}`;
    const known = this.#known.get(id) as Known;
    const kind = this.#roll(8);
    if (kind < 3) return (store, signal) => this.#put(id, known, nth, store, signal);
    if (kind < 5) return (store, signal) => this.#mark(id, known, nth, store, signal);
    const batch = this.#batch(this.#roll(IDS));
    const ids = [...this.#known.keys()].filter(() => this.#roll(2) === 0);
    if (kind < 7) return async (store, signal) => void (await trashOf(store).move(ids, batch, later(), signal));
    const limit = 1 + this.#roll(3);
    return async (store, signal) => {
      const { restored, present } = await trashOf(store).restore(batch, limit, signal);
      assert.ok(restored + present <= limit);
    };
  }

  async #put(id: string, known: Known, nth: number, store: DlqStore, signal: AbortSignal): Promise<void> {
    // An imported entry keeps its time.
    const failedAt = at(this.#roll(2) === 0 ? nth : 0);
    await store.put(deadLetter(id, { reason: `the ${nth}th`, failedAt }), signal);
    known.written = true;
  }

  async #mark(id: string, known: Known, nth: number, store: DlqStore, signal: AbortSignal): Promise<void> {
    const text = `${id}/${nth}`;
    const change: MarkChange = {
      ...(known.notes.size + known.maybe.size < MOST_NOTES && { note: { at: at(nth), by: "alice", text } }),
      ...(this.#roll(4) === 0 && { quarantined: true }),
      ...(this.#roll(4) === 0 && { assignee: `of ${nth}` }),
    };
    if (change.note !== undefined) known.maybe.add(text);
    const there = await marksOf(store).mark(new Map([[id, change]]), signal);
    if (!there.has(id)) return;
    if (change.note !== undefined) known.notes.add(text);
    if (change.quarantined === true) known.quarantined = true;
    if (change.assignee !== undefined) known.assigned = true;
  }

  #batch(number: number): string {
    return `${this.#name}/b${number}`;
  }

  #store(): DlqStore {
    return this.#stores[this.#roll(2)] as DlqStore;
  }
}
