import assert from "node:assert/strict";
import { HandClock } from "@bridge/conformance";
import type { OutboxClaim, OutboxStore, PersistResult } from "@bridge/ports";
import {
  type Claim,
  type ClaimOne,
  type Finish,
  INSTANCES,
  LOAN_MS,
  type Persist,
  type Step,
} from "./instance-steps.ts";
import { LostAnswers } from "./lost-answers.ts";
import { openOn, type TestTables } from "./outbox.ts";
import { claimAll, recordOf } from "./records.ts";
import type { ServerTime } from "./server-time.ts";

const HOUR_MS = 3_600_000;
const signal = new AbortController().signal;

/** Instances on one outbox, and what has to be true of it whatever they do. */
export class Plant implements AsyncDisposable {
  readonly #tables: TestTables;
  readonly #time: ServerTime;
  /** What passes at the server. */
  readonly #clock = new HandClock(10 * HOUR_MS, 1_767_225_600_000);
  readonly #lost = new LostAnswers();
  readonly #stores: readonly OutboxStore[];
  readonly #held: readonly OutboxClaim[][];
  /** Until when a record is on loan, as long as the server's clock is not set. */
  readonly #loans = new Map<string, number>();
  /** Under which token a record was lent last. */
  readonly #tokens = new Map<string, string>();
  readonly #persisted: string[] = [];
  /** How often it was told of a record that it has ended. */
  readonly #ended = new Map<string, number>();
  /** Of whose end there was no answer. */
  readonly #unsure = new Set<string>();

  private constructor(tables: TestTables, time: ServerTime, stores: readonly OutboxStore[]) {
    this.#tables = tables;
    this.#time = time;
    this.#stores = stores.map((store) => time.with(store, this.#clock));
    this.#held = stores.map(() => []);
  }

  static async open(tables: TestTables, time: ServerTime): Promise<Plant> {
    await tables.empty();
    const stores = await Promise.all(Array.from({ length: INSTANCES }, () => openOn(tables.connection)));
    return new Plant(tables, time, stores);
  }

  async take(step: Step): Promise<void> {
    if (step.does === "persist") await this.#persist(step);
    else if (step.does === "claim") await this.#claim(step);
    else if (step.does === "claimOne") await this.#claimOne(step);
    else if (step.does === "finish") await this.#finish(step);
    else if (step.does === "arrive") await this.#lost.arrive();
    else if (step.does === "pass") this.#clock.pass(step.ms);
    else {
      this.#time.jump(step.ms);
      this.#loans.clear();
    }
  }

  /** Delivers what is left; resolves to what has not ended, or not once. */
  async drain(): Promise<readonly unknown[]> {
    await this.#lost.arrive();
    for (let round = 0; round < 3; round++) {
      this.#clock.pass(2 * HOUR_MS);
      for (let instance = 0; instance < INSTANCES; instance++) {
        do await this.#claim({ instance, loss: "none", limit: 100 });
        while (await this.#finish({ instance, loss: "none", count: 1_000, outcome: { kind: "done" } }));
      }
    }
    const wrong: unknown[] = [...(await this.#store(0).backlog(signal))];
    for (const id of this.#persisted) {
      const [times, status] = [this.#ended.get(id) ?? 0, await this.#store(0).status(id, signal)];
      const told = times === 1 || (times === 0 && this.#unsure.has(id));
      if (!told || (status !== "done" && status !== "dead")) wrong.push({ id, times, status });
    }
    return wrong;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lost[Symbol.dispose]();
    await Promise.all(this.#stores.map((store) => store[Symbol.asyncDispose]()));
  }

  async #persist({ instance, loss, keys }: Persist): Promise<void> {
    const records = keys.map((orderingKey, i) => recordOf(`${this.#persisted.length + i}`, { orderingKey }, 32));
    this.#lost.next("outbox_persist", loss);
    const insist = (): Promise<readonly PersistResult[]> => this.#store(instance).persist(records, signal);
    // A bridge says again what was not confirmed.
    const results = await insist().catch(insist);
    for (const { id } of records) this.#persisted.push(id);
    const itself = (id: string) => ({ kind: "duplicate", id, status: "pending" });
    const expected = records.map(({ id }) => (loss === "never" ? itself(id) : { kind: "persisted" }));
    assert.deepEqual(results, expected);
  }

  async #claim({ instance, loss, limit }: Claim): Promise<void> {
    this.#lost.next("outbox_claim", loss);
    const claims = await claimAll(this.#store(instance), signal, limit, LOAN_MS).catch(() => []);
    assert.ok(claims.length <= limit);
    const before = new Set<string>();
    for (const claim of claims) {
      const { id, orderingKey } = claim.record;
      const elders = orderingKey === undefined ? [] : await this.#eldersOf(id);
      for (const elder of elders) assert.ok(before.has(elder), `${id} was lent before ${elder}`);
      before.add(id);
      this.#lend(instance, claim);
    }
  }

  async #claimOne({ instance, back }: ClaimOne): Promise<void> {
    const id = this.#persisted.at(-1 - back) ?? "unknown";
    const claim = await this.#store(instance).claimOne(id, LOAN_MS, signal);
    if (claim !== undefined) this.#lend(instance, claim);
  }

  #lend(instance: number, claim: OutboxClaim): void {
    const [{ id }, now] = [claim.record, this.#clock.monotonic()];
    assert.ok((this.#loans.get(id) ?? 0) <= now, `${id} was lent twice`);
    this.#loans.set(id, now + LOAN_MS);
    this.#tokens.set(id, claim.token);
    this.#held[instance]?.push(claim);
  }

  /** Resolves to whether there was something to end. */
  async #finish({ instance, loss, count, outcome }: Finish): Promise<boolean> {
    const claims = this.#held[instance]?.splice(0, count) ?? [];
    const ends = claims.map(({ record: { id }, token }) => ({ id, token, outcome }));
    this.#lost.next("outbox_finish", loss);
    const entered = await this.#store(instance)
      .finish(ends, signal)
      .catch(() => undefined);
    for (const [i, { id, token }] of ends.entries()) {
      if (entered === undefined) this.#unsure.add(id);
      else if (entered[i] === false) continue;
      else assert.equal(token, this.#tokens.get(id), `a loan of ${id} was ended that somebody else has`);
      this.#loans.delete(id);
      if (entered !== undefined && outcome.kind !== "retry") this.#ended.set(id, (this.#ended.get(id) ?? 0) + 1);
    }
    return ends.length > 0;
  }

  /** What is not finished and older than a record of the same key. */
  async #eldersOf(id: string): Promise<readonly string[]> {
    const { schema } = this.#tables.connection;
    const rows = await this.#tables.schema.rows<{ id: string }>(
      `SELECT o.id FROM ${schema}.outbox_queue AS q JOIN ${schema}.outbox_queue AS o USING (place, key_hash)
        WHERE q.id = $1 AND o.number < q.number`,
      [id],
    );
    return rows.map((row) => row.id);
  }

  #store(instance: number): OutboxStore {
    return this.#stores[instance] as OutboxStore;
  }
}
