import assert from "node:assert/strict";
import { assertDue } from "./assert-due.ts";
import { type OutboxCheck, staged } from "./check.ts";
import { dueAtOnce, type Owner } from "./owner.ts";
import { createdAt, idAt, records } from "./outbox-records.ts";

const HOUR_MS = 3_600_000;
const LOAN_MS = 1_000;

async function wait(owner: Owner, id: string, attempts = 1): Promise<void> {
  await owner.end(await owner.take(id), { kind: "retry", delayMs: HOUR_MS, attempts });
}

async function keysOf(owner: Owner, ...given: Parameters<Owner["blockedKeys"]>): Promise<readonly string[]> {
  return (await owner.blockedKeys(...given)).map(({ orderingKey }) => orderingKey);
}

/** Which ordering keys are held up, and by what. */
export const BLOCKED_KEY_CHECKS = {
  "tells of a blocked key its oldest record, how often that was tried, when it is again, and how many wait": staged(
    async ({ owner, other, time }) => {
      await owner.add(...records(4, (i) => ({ orderingKey: i === 3 ? "free" : "key", createdAt: createdAt(i) })));
      const earliest = time.now() + HOUR_MS;
      await wait(owner, "r0000", 3);
      const [key, ...more] = await other.blockedKeys();
      assert.deepEqual(more, []);
      assert.ok(key !== undefined, "the key is not told");
      assert.deepEqual(
        { ...key, dueAt: 0 },
        {
          routeId: "route",
          bindingId: "binding",
          orderingKey: "key",
          depth: 3,
          oldestId: "r0000",
          attempts: 3,
          dueAt: 0,
          oldestCreatedAt: createdAt(0),
        },
      );
      assertDue({ dueAt: key.dueAt }, earliest, time.now() + HOUR_MS);
    },
  ),
  "of the keys of one binding only those whose oldest record waits are blocked": staged(async ({ owner }) => {
    const keys = ["a", "a", "b", "b", "c", undefined, "d", "d"];
    await owner.add(...records(8, (i) => ({ orderingKey: keys[i], createdAt: createdAt(i) })));
    // Not the oldest of its key; and one without a key.
    await wait(owner, idAt(3));
    await wait(owner, idAt(5));
    assert.deepEqual(await keysOf(owner), []);
    await wait(owner, idAt(4));
    await wait(owner, idAt(0));
    assert.deepEqual(await keysOf(owner), ["a", "c"]);
    await owner.end(await owner.take(idAt(0)), { kind: "done" });
    assert.deepEqual(await keysOf(owner), ["c"]);
    await owner.end(await owner.take(idAt(2)), { kind: "dead" });
    assert.deepEqual(await keysOf(owner), ["b", "c"]);
  }),
  "a key whose oldest record is lent, or due again, is not told as blocked": staged(async ({ owner, time }) => {
    await owner.add(...records(3, (i) => ({ orderingKey: `key-${i}`, createdAt: createdAt(i) })));
    await owner.end(await owner.take(idAt(0)), { kind: "retry", delayMs: LOAN_MS, attempts: 1 });
    await owner.end(await owner.take(idAt(1)), dueAtOnce(1));
    await wait(owner, idAt(2));
    await owner.take(idAt(2));
    await time.pass(LOAN_MS);
    assert.deepEqual(await keysOf(owner), []);
  }),
  "tells blocked keys of a route and of a binding, up to a limit, oldest first": staged(async ({ owner }) => {
    await owner.add(
      ...records(12, (i) => ({ routeId: `route-${i % 2}`, bindingId: `binding-${i % 3}`, orderingKey: "same" })),
    );
    for (const i of [5, 4, 3, 2, 1, 0]) await wait(owner, idAt(i));
    const idsOf = async (...given: Parameters<Owner["blockedKeys"]>): Promise<readonly string[]> =>
      (await owner.blockedKeys(...given)).map(({ oldestId }) => oldestId);
    assert.deepEqual(await idsOf(), [0, 1, 2, 3, 4, 5].map(idAt));
    assert.deepEqual(await idsOf({}, 2), [0, 1].map(idAt));
    assert.deepEqual(await idsOf({ routeId: "route-1" }), [1, 3, 5].map(idAt));
    assert.deepEqual(await idsOf({ bindingId: "binding-2" }), [2, 5].map(idAt));
    assert.deepEqual(await idsOf({ routeId: "route-0", bindingId: "binding-1" }), [idAt(4)]);
    assert.deepEqual(await idsOf({ routeId: undefined, bindingId: undefined }, 1), [idAt(0)]);
    assert.deepEqual(await idsOf({ routeId: "nothing" }), []);
    // The binding that was the first to have a record has the youngest of these now.
    await owner.end(await owner.take(idAt(0)), { kind: "done" });
    await wait(owner, idAt(6));
    assert.deepEqual(await idsOf(), [1, 2, 3, 4, 5, 6].map(idAt));
    assert.deepEqual(await idsOf({}, 2), [1, 2].map(idAt));
  }),
} as const satisfies Record<string, OutboxCheck>;
