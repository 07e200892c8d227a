import assert from "node:assert/strict";
import type { OutboxBacklog, OutboxFilter, OutboxHead, OutboxRecord } from "@bridge/ports";
import { assertDue } from "./assert-due.ts";
import { type OutboxCheck, type Stage, staged } from "./check.ts";
import { createdAt, idAt, idsAt, record, records } from "./outbox-records.ts";

const HOUR_MS = 3_600_000;
const LOAN_MS = 1_000;

/** Thirty records of two routes and three bindings in turn. */
const RECORDS = records(30, (i) => ({ routeId: `route-${i % 2}`, bindingId: `binding-${i % 3}` }));

/** What operators see of an outbox. */
export const LISTING_CHECKS = {
  "lists everything of a new record but its envelope": staged(async ({ owner, time }) => {
    const entry = record("a", { address: "orders/7", orderingKey: "key", envelope: { subject: "orders" } });
    await owner.add(entry);
    const [head] = await owner.list();
    assert.ok(head !== undefined && head.dueAt <= time.now(), "a new record is not due");
    assert.deepEqual(head, headOf(entry, { dueAt: head.dueAt }));
  }),
  "lists a record without a key": staged(async ({ owner }) => {
    await owner.add(record("a"));
    const [head] = await owner.list();
    assert.equal(head?.orderingKey, undefined);
  }),
  "lists what is lent, what waits for a retry, and nothing that is finished": staged(async ({ owner, other, time }) => {
    await owner.add(...records(5));
    const earliest = time.now() + HOUR_MS;
    await owner.end(await owner.take("r0000"), { kind: "done" });
    await owner.end(await owner.take("r0001"), { kind: "dead" });
    await owner.end(await owner.take("r0002"), { kind: "retry", delayMs: HOUR_MS, attempts: 3 });
    await owner.take("r0003");
    const heads = await other.list();
    assert.deepEqual(
      heads.map(({ id, attempts, lent }) => ({ id, attempts, lent })),
      [
        { id: "r0002", attempts: 3, lent: false },
        { id: "r0003", attempts: 0, lent: true },
        { id: "r0004", attempts: 0, lent: false },
      ],
    );
    assertDue(heads[0], earliest, time.now() + HOUR_MS);
  }),
  "a record whose loan has lapsed is not listed as lent": staged(async ({ owner, time }) => {
    await owner.add(record("a"), record("b"));
    await owner.take("a", LOAN_MS);
    await owner.take("b");
    await time.pass(LOAN_MS);
    assert.deepEqual(
      (await owner.list()).map(({ lent }) => lent),
      [false, true],
    );
  }),
  "lists oldest first": staged(async ({ owner }) => {
    for (const [index, id] of ["c", "a", "d", "b"].entries())
      await owner.add(record(id, { createdAt: createdAt(index) }));
    assert.deepEqual(await owner.listIds(), ["c", "a", "d", "b"]);
  }),
  "a record keeps its place through loans and retries": staged(async ({ owner }) => {
    await owner.add(...records(3));
    await owner.end(await owner.take("r0000"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    await owner.take("r0001");
    assert.deepEqual(await owner.listIds(), idsAt(0, 1, 2));
  }),
  "lists nothing of an empty outbox": staged(async ({ owner }) => {
    assert.deepEqual(await owner.list(), []);
    assert.deepEqual(await owner.backlog(), []);
  }),
  "lists a route": filtered({ routeId: "route-1" }, ({ routeId }) => routeId === "route-1"),
  "lists a binding of all routes": filtered({ bindingId: "binding-2" }, ({ bindingId }) => bindingId === "binding-2"),
  "lists a binding of one route": filtered(
    { routeId: "route-0", bindingId: "binding-1" },
    ({ routeId, bindingId }) => routeId === "route-0" && bindingId === "binding-1",
  ),
  "lists nothing of an unknown route or binding": staged(async ({ owner }) => {
    await owner.add(...RECORDS);
    assert.deepEqual(await owner.list({ routeId: "route" }), []);
    assert.deepEqual(await owner.list({ routeId: "route-0", bindingId: "" }), []);
  }),
  "a filter that is undefined matches all": filtered({ routeId: undefined, bindingId: undefined }, () => true),
  "pages without gap or repetition, past what is finished": staged(async ({ owner }) => {
    await fill({ owner });
    for (const id of idsAt(0, 7, 8, 29)) await owner.end(await owner.take(id), { kind: "done" });
    const rest = RECORDS.map(({ id }) => id).filter((id) => !idsAt(0, 7, 8, 29).includes(id));
    for (const limit of [1, 7, 25, 26, 27]) {
      const ids: string[] = [];
      for (let offset = 0; offset <= 30; offset += limit) ids.push(...(await owner.listIds({}, { limit, offset })));
      assert.deepEqual(ids, rest, `pages of ${limit}`);
    }
  }),
  "pages through a filter": staged(async ({ owner }) => {
    await fill({ owner });
    assert.deepEqual(await owner.listIds({ routeId: "route-1" }, { limit: 4, offset: 3 }), idsAt(7, 9, 11, 13));
    assert.deepEqual(await owner.listIds({ bindingId: "binding-0" }, { limit: 4, offset: 8 }), idsAt(24, 27));
  }),
  "an offset beyond the end gives nothing, 100,000 too": staged(async ({ owner }) => {
    await fill({ owner });
    for (const offset of [30, 31, 100_000]) assert.deepEqual(await owner.list({}, { limit: 10, offset }), []);
  }),
  "a page without room is empty": staged(async ({ owner }) => {
    await fill({ owner });
    assert.deepEqual(await owner.list({}, { limit: 0 }), []);
  }),
  "the backlog has a line for each binding with unfinished records": staged(async ({ owner, other }) => {
    await fill({ owner });
    assert.deepEqual(await other.backlog(), [
      line("route-0", "binding-0", 0),
      line("route-0", "binding-1", 4),
      line("route-0", "binding-2", 2),
      line("route-1", "binding-0", 3),
      line("route-1", "binding-1", 1),
      line("route-1", "binding-2", 5),
    ]);
  }),
  "the depth counts what is lent or waits, and nothing that is finished": staged(async ({ owner }) => {
    await owner.add(...records(5));
    await owner.end(await owner.take("r0000"), { kind: "done" });
    await owner.end(await owner.take("r0001"), { kind: "dead" });
    await owner.end(await owner.take("r0002"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    await owner.take("r0003");
    const [only] = await owner.backlog();
    assert.equal(only?.depth, 3);
    assert.equal(only?.oldestCreatedAt, createdAt(2));
    for (const id of idsAt(2, 4)) await owner.end(await owner.take(id), { kind: "done" });
    assert.equal((await owner.backlog())[0]?.depth, 1);
  }),
  "a binding whose records are all finished has no line": staged(async ({ owner }) => {
    await owner.add(record("a"), record("b", { bindingId: "other" }));
    await owner.end(await owner.take("a"), { kind: "done" });
    assert.deepEqual(
      (await owner.backlog()).map(({ bindingId }) => bindingId),
      ["other"],
    );
  }),
  "counts the keys whose head waits for a retry": staged(async ({ owner }) => {
    const keys = ["a", "a", "b", "b", "c", undefined, "d", "d"];
    await owner.add(...records(8, (i) => ({ orderingKey: keys[i] })));
    const wait = async (index: number): Promise<void> => {
      await owner.end(await owner.take(idAt(index)), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    };
    const blocked = async (): Promise<number | undefined> => (await owner.backlog())[0]?.blockedKeys;
    // Not the head of its key; and one without a key.
    await wait(3);
    await wait(5);
    assert.equal(await blocked(), 0);
    await wait(0);
    await wait(4);
    assert.equal(await blocked(), 2);
    await owner.end(await owner.take(idAt(0)), { kind: "done" });
    assert.equal(await blocked(), 1);
    await owner.end(await owner.take(idAt(2)), { kind: "done" });
    assert.equal(await blocked(), 2);
  }),
  "a key whose head is due again is not blocked": staged(async ({ owner, time }) => {
    await owner.add(...records(2, () => ({ orderingKey: "key" })));
    await owner.end(await owner.take("r0000"), { kind: "retry", delayMs: LOAN_MS, attempts: 1 });
    await time.pass(LOAN_MS);
    assert.equal((await owner.backlog())[0]?.blockedKeys, 0);
  }),
} as const satisfies Record<string, OutboxCheck>;

async function fill({ owner }: Pick<Stage, "owner">): Promise<void> {
  await owner.add(...RECORDS);
}

function filtered(filter: OutboxFilter, matches: (entry: OutboxRecord) => boolean): OutboxCheck {
  return staged(async ({ owner }) => {
    await fill({ owner });
    assert.deepEqual(
      await owner.listIds(filter),
      RECORDS.filter(matches).map(({ id }) => id),
    );
  });
}

function line(routeId: string, bindingId: string, oldest: number): OutboxBacklog {
  return { routeId, bindingId, depth: 5, oldestCreatedAt: createdAt(oldest), blockedKeys: 0 };
}

/** What a list shows of a record that nobody has had yet. */
function headOf(entry: OutboxRecord, { dueAt }: Pick<OutboxHead, "dueAt">): OutboxHead {
  const { id, routeId, bindingId, address, orderingKey, envelope } = entry;
  return {
    id,
    routeId,
    bindingId,
    envelopeId: envelope.id,
    subject: envelope.subject,
    address,
    orderingKey,
    createdAt: entry.createdAt,
    dueAt,
    attempts: 0,
    lent: false,
  };
}
