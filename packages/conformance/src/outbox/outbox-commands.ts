/**
 * What an outbox is asked to do, and that it does what its model says; for the property tests of stores. @module
 */
import type { ClaimEnd, ClaimRequest, Clock, OutboxClaim, OutboxRecord, OutboxStore } from "@bridge/ports";
import fc from "fast-check";
import { expect } from "vitest";
import type { OutboxModel } from "./outbox-model.ts";

export { OutboxModel } from "./outbox-model.ts";

/** Time that passes when a command says so. */
interface HandedClock extends Clock {
  pass(ms: number): Promise<void>;
  jump(ms: number): void;
}

export interface RealOutbox {
  /** The handle that the next command is for: of a store with several, one or another. */
  readonly store: () => OutboxStore;
  readonly clock: HandedClock;
  /** Kills the store and opens it again; tells the model what becomes of loans and waits by that. */
  restart(model: OutboxModel): Promise<void>;
  /** Everything that was ever lent: what is over may be repeated. */
  readonly claims: OutboxClaim[];
  count: number;
}

type Command = fc.AsyncCommand<OutboxModel, RealOutbox>;

const { signal } = new AbortController();

// Few values, so that they meet.
const place = fc.record({ routeId: fc.constantFrom("r1", "r2"), bindingId: fc.constantFrom("b1", "b2") });
const fields = fc
  .tuple(
    place,
    fc.record({
      payloadDigest: fc.constantFrom("digest", "digest", "other"),
      orderingKey: fc.constantFrom(undefined, "k1", "k2"),
      // Also the ids of messages, which these are not.
      identity: fc.constantFrom(undefined, undefined, undefined, "m1", "m2", "=m3"),
    }),
    fc.constantFrom("m1", "m2", "m3", "m4", "m5", "m6"),
    fc.integer({ min: 0, max: 6_000 }),
  )
  .map(([at, more, message, bytes]) => ({ more: { ...at, ...more }, message, bytes }));
const loanMs = fc.constantFrom(1_000, 5_000);
const outcome = fc.oneof(
  fc.constantFrom({ kind: "done" } as const, { kind: "dead" } as const),
  fc.record({ kind: fc.constant("retry" as const), delayMs: fc.integer({ min: 0, max: 4_000 }), attempts: fc.nat(3) }),
);

export const outboxCommands = fc.commands<OutboxModel, RealOutbox, false>(
  [
    fc.array(fc.array(fields, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }).map(persistAtOnce),
    fc.tuple(place, fc.nat(5), loanMs).map(([at, limit, ms]) => claim({ ...at, limit, loanMs: ms })),
    fc.tuple(fc.nat(40), loanMs).map(claimOne),
    fc.array(fc.tuple(fc.nat(20), outcome), { minLength: 1, maxLength: 5 }).map(finish),
    fc.integer({ min: 1, max: 6_000 }).map(pass),
    fc.constantFrom(-3_600_000, -2_000, 2_000, 3_600_000).map(jump),
    fc.constant(look()),
    fc.constant(restart()),
  ],
  { maxCommands: 60, size: "max" },
);

function command(name: string, run: (model: OutboxModel, real: RealOutbox) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

type Fields = typeof fields extends fc.Arbitrary<infer T> ? T : never;

function persistAtOnce(calls: readonly (readonly Fields[])[]): Command {
  return command(`persist ${JSON.stringify(calls)}`, async (model, real) => {
    const records = calls.map((call) =>
      call.map(({ more, message, bytes }) => {
        return recordOf(`id-${real.count++}`, message, bytes, more);
      }),
    );
    const store = real.store();
    const answers = await Promise.all(records.map((call) => store.persist(call, signal)));
    expect(answers).toEqual(records.map((call) => call.map((record) => model.persist(record))));
  });
}

function claim(request: ClaimRequest): Command {
  return command(`claim ${JSON.stringify(request)}`, async (model, real) => {
    const now = real.clock.monotonic();
    const expected = model.claimable(request, now);
    const claims = await real.store().claim(request, signal);
    expect(claims.map(({ record, attempts }) => ({ id: record.id, attempts }))).toEqual(expected);
    for (const lent of claims) take(lent, now + request.loanMs, model, real);
  });
}

function claimOne([number, ms]: readonly [number, number]): Command {
  const id = `id-${number}`;
  return command(`claim ${id}`, async (model, real) => {
    const now = real.clock.monotonic();
    const lent = await real.store().claimOne(id, ms, signal);
    expect(lent && { id: lent.record.id, attempts: lent.attempts }).toEqual(model.one(id, now));
    if (lent !== undefined) take(lent, now + ms, model, real);
  });
}

function take(lent: OutboxClaim, until: number, model: OutboxModel, real: RealOutbox): void {
  const { record, token } = lent;
  const { payload } = record.envelope;
  const told = { ...record, identity: undefined, envelope: { ...record.envelope, payload: Uint8Array.from(payload) } };
  expect(told).toEqual({ ...model.record(record.id), identity: undefined });
  expect(real.claims.some((other) => other.token === token)).toBe(false);
  real.claims.push(lent);
  model.lend(record.id, token, until);
}

function finish(wanted: readonly (readonly [number, ClaimEnd["outcome"]])[]): Command {
  return command(`finish ${JSON.stringify(wanted)}`, async (model, real) => {
    const ends = wanted.flatMap(([back, how]) => {
      const lent = real.claims.at(-1 - back);
      if (lent === undefined) return [];
      return { id: lent.record.id, token: lent.token, outcome: how };
    });
    const expected = ends.map((said) => model.finish(said, real.clock));
    expect(await real.store().finish(ends, signal)).toEqual(expected);
  });
}

function pass(ms: number): Command {
  return command(`${ms} ms pass`, (_, { clock }) => clock.pass(ms));
}

function jump(ms: number): Command {
  return command(`the clock is set by ${ms} ms`, async (_, { clock }) => clock.jump(ms));
}

function look(): Command {
  return command("look", async (model, { store, count }) => {
    const heads = await store().list({}, { limit: 1_000, offset: 0 }, signal);
    expect(heads.map(({ id, attempts }) => ({ id, attempts }))).toEqual(
      model.pending().map(({ record, attempts }) => ({ id: record.id, attempts })),
    );
    const depth = (await store().backlog(signal)).reduce((sum, line) => sum + line.depth, 0);
    expect(depth).toBe(heads.length);
    for (let i = 0; i < count; i++) expect(await store().status(`id-${i}`, signal)).toBe(model.status(`id-${i}`));
  });
}

function restart(): Command {
  return command("killed and opened again", (model, real) => real.restart(model));
}

function recordOf(id: string, message: string, bytes: number, more: Fields["more"]): OutboxRecord {
  return {
    ...more,
    id,
    address: "address",
    createdAt: 1_000,
    envelope: {
      id: message,
      sourceId: "source",
      subject: "subject",
      contentType: "",
      headers: { name: "value" },
      payload: new Uint8Array(bytes).fill(7),
      correlationId: "correlation",
      receivedAt: 900,
    },
  };
}
