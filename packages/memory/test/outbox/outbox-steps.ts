import type { SuiteClock } from "@bridge/conformance";
import type { ClaimEnd, ClaimRequest, OutboxClaim, OutboxRecord, OutboxStore } from "@bridge/ports";
import fc from "fast-check";
import { expect } from "vitest";
import type { ModelLoan, OutboxModel } from "./outbox-model.ts";

/** What the steps know: the model, and who has which loans, ended and lapsed ones too. */
export interface Known {
  readonly model: OutboxModel;
  readonly loans: readonly [ModelLoan[], ModelLoan[]];
  persisted: number;
}

/** What they try: the store, and the tokens of the loans that the model knows by numbers. */
export interface Tried {
  readonly store: OutboxStore;
  readonly clock: SuiteClock;
  readonly tokens: Map<string, string>;
}

type Step = fc.AsyncCommand<Known, Tried>;
type Owner = 0 | 1;
type Fields = Pick<OutboxRecord, "routeId" | "bindingId" | "payloadDigest" | "orderingKey" | "entryId" | "identity"> & {
  readonly message: string;
};

const { signal } = new AbortController();
const EPOCH = 1_767_225_600_000;

// Few values, so that they meet.
const owner = fc.constantFrom<Owner[]>(0, 1);
const routeId = fc.constantFrom("r1", "r2");
const bindingId = fc.constantFrom("b1", "b2");
const entryId = fc.constantFrom("e1", "e2");
const seconds = fc.integer({ min: 1, max: 6 }).map((count) => count * 1_000);
const index = fc.nat({ max: 30 });
const fields = fc.record<Fields>({
  routeId,
  bindingId,
  message: fc.constantFrom("m1", "m2", "m3", "m4", "m5"),
  payloadDigest: fc.constantFrom("d", "d", "d", "other"),
  orderingKey: fc.constantFrom(undefined, "k1", "k2"),
  // Also the ids of messages, which these are not.
  identity: fc.option(fc.constantFrom("m1", "m2", "=m3"), { nil: undefined, freq: 3 }),
  entryId: fc.option(entryId, { nil: undefined, freq: 3 }),
});
const outcome = fc.oneof(
  fc.constantFrom({ kind: "done" } as const, { kind: "dead" } as const),
  fc.record({ kind: fc.constant("retry" as const), delayMs: seconds, attempts: fc.nat(3) }),
);

/** Everything that can happen to an outbox, one thing at a time. */
export const STEPS: fc.Arbitrary<Step>[] = [
  fc.array(fields, { maxLength: 4 }).map(persist),
  fc
    .record({ routeId, bindingId, limit: fc.nat(4), loanMs: seconds })
    .chain((request) => owner.map((who) => claim(who, request))),
  fc.tuple(owner, index, seconds).map(claimOne),
  fc.array(fc.tuple(owner, index, outcome), { maxLength: 4 }).map(finish),
  seconds.map(pass),
  fc.constantFrom(-60_000, -1_000, 1_000, 60_000).map(jump),
  fc.tuple(fc.record({ routeId, bindingId }, { requiredKeys: [] }), fc.nat(4), fc.nat(4), entryId).map(look),
];

function persist(wanted: readonly Fields[]): Step {
  return step(`persist ${JSON.stringify(wanted)}`, async (known, { store }) => {
    const records = wanted.map((given) => recordOf(`id-${known.persisted++}`, given));
    const expected = known.model.persist(records);
    const persisting = store.persist(records, signal);
    if (expected === "full") await expect(persisting).rejects.toMatchObject({ code: "UNAVAILABLE" });
    else expect(await persisting).toEqual(expected);
  });
}

function claim(who: Owner, request: ClaimRequest): Step {
  return step(`${who} claims ${JSON.stringify(request)}`, async (known, tried) => {
    const expected = known.model.claim(request);
    take(await tried.store.claim(request, signal), expected, known.loans[who], tried);
  });
}

function claimOne([who, which, loanMs]: readonly [Owner, number, number]): Step {
  return step(`${who} claims id-${which}`, async (known, tried) => {
    const expected = known.model.claimOne(`id-${which}`, loanMs);
    const claimed = await tried.store.claimOne(`id-${which}`, loanMs, signal);
    take(claimed === undefined ? [] : [claimed], expected === undefined ? [] : [expected], known.loans[who], tried);
  });
}

/** Enters the loans that were given, which have to be those of the model. */
function take(
  claims: readonly OutboxClaim[],
  expected: readonly ModelLoan[],
  loans: ModelLoan[],
  { tokens }: Tried,
): void {
  expect(claims.map(({ record, attempts }) => ({ id: record.id, attempts }))).toEqual(
    expected.map(({ id, attempts }) => ({ id, attempts })),
  );
  for (const [position, loan] of expected.entries()) tokens.set(nameOf(loan), claims[position]?.token ?? "");
  expect(new Set(tokens.values()).size).toBe(tokens.size);
  loans.push(...expected);
}

function finish(wanted: readonly (readonly [Owner, number, ClaimEnd["outcome"]])[]): Step {
  return step(`finish ${JSON.stringify(wanted)}`, async ({ model, loans }, { store, tokens }) => {
    const ends = wanted.flatMap(([who, which, how]) => {
      // The latest are the most likely to be still of use.
      const loan = loans[who].at(-1 - (which % (loans[who].length || 1)));
      return loan === undefined ? [] : { loan, how };
    });
    const expected = ends.map(({ loan, how }) => model.finish(loan, how));
    const said = ends.map(({ loan, how }) => ({ id: loan.id, token: tokens.get(nameOf(loan)) ?? "", outcome: how }));
    expect(await store.finish(said, signal)).toEqual(expected);
  });
}

function pass(ms: number): Step {
  return step(`${ms} ms pass`, async ({ model }, { clock }) => {
    await clock.pass(ms);
    model.forget();
  });
}

function jump(ms: number): Step {
  return step(`the clock is set by ${ms} ms`, async (_, { clock }) => clock.jump(ms));
}

function look([filter, limit, offset, entry]: readonly [
  { readonly routeId?: string; readonly bindingId?: string },
  number,
  number,
  string,
]): Step {
  return step(`look at ${JSON.stringify([filter, limit, offset, entry])}`, async ({ model, persisted }, { store }) => {
    expect(await store.list(filter, { limit, offset }, signal)).toEqual(model.list(filter, { limit, offset }));
    const backlog = await store.backlog(signal);
    expect(backlog).toHaveLength(model.backlog().length);
    expect(backlog).toEqual(expect.arrayContaining([...model.backlog()]));
    const redriving = await store.redriving(entry, signal);
    if (redriving === undefined) expect(model.redriving(entry)).toEqual([]);
    else expect(model.redriving(entry)).toContain(redriving);
    for (let i = 0; i < persisted; i++) expect(await store.status(`id-${i}`, signal)).toBe(model.status(`id-${i}`));
  });
}

function step(title: string, run: (known: Known, tried: Tried) => Promise<void>): Step {
  return { check: () => true, run, toString: () => title };
}

function nameOf({ id, loan }: ModelLoan): string {
  return `${id} ${loan}`;
}

function recordOf(id: string, { message, ...given }: Fields): OutboxRecord {
  const about = { sourceId: "s", subject: "t", contentType: "", correlationId: "c", headers: {}, receivedAt: 0 };
  const envelope = { ...about, id: message, payload: Uint8Array.of(1) };
  return { ...given, id, envelope, address: "a", createdAt: EPOCH - 1 };
}
