import assert from "node:assert/strict";
import type { LeaseRecord, LeaseStore } from "@bridge/ports";

const KEY = "plant-7/broker";

/** A lease store in the hands of one instance; what is done is done to one lease if no other key is named. */
export class Hands {
  readonly store: LeaseStore;
  readonly #signal: AbortSignal;

  constructor(store: LeaseStore, signal: AbortSignal) {
    this.store = store;
    this.#signal = signal;
  }

  read(key = KEY): Promise<LeaseRecord | undefined> {
    return this.store.read(key, this.#signal);
  }

  replace(expected: LeaseRecord | undefined, next: LeaseRecord, key = KEY): Promise<boolean> {
    return this.store.replace(key, expected, next, this.#signal);
  }

  /** A replacement that has to be made. */
  async make(expected: LeaseRecord | undefined, next: LeaseRecord, key = KEY): Promise<void> {
    assert.equal(await this.replace(expected, next, key), true, "refused, though the record was the expected one");
  }

  /** A replacement that has to be refused, and leaves what there is. */
  async refuse(expected: LeaseRecord | undefined, next: LeaseRecord, key = KEY): Promise<void> {
    const before = await this.read(key);
    assert.equal(await this.replace(expected, next, key), false, "made, though the record was another one");
    await this.find(before, key);
  }

  /** What is stored has to be `record`, field by field, and nothing else. */
  async find(record: LeaseRecord | undefined, key = KEY): Promise<void> {
    const found = await this.read(key);
    assert.deepEqual(found && { ...found }, record);
  }
}
