import assert from "node:assert/strict";
import { type OutboxCheck, spoilt } from "./check.ts";
import { idAt, idsAt, records } from "./outbox-records.ts";
import { endOf, idsOf } from "./owner.ts";

const COUNT = 12;
const VICTIM = 4;
const OTHERS = Array.from({ length: COUNT }, (_, i) => idAt(i)).filter((id) => id !== idAt(VICTIM));

/** One record is not as it was written, and all others are delivered. */
export const SPOILED_CHECKS = {
  "a changed record is never lent, and holds up no other": oneSpoiled("changed"),
  "an unreadable record is never lent, and holds up no other": oneSpoiled("unreadable"),
} as const satisfies Record<string, OutboxCheck>;

function oneSpoiled(how: "changed" | "unreadable"): OutboxCheck {
  return spoilt(
    ({ owner }) => owner.add(...records(COUNT, (i) => (i % 2 === 0 ? { orderingKey: `key-${i % 4}` } : {}))),
    idAt(VICTIM),
    how,
    async ({ owner }) => {
      const lent: string[] = [];
      for (let more = true; more;) {
        const claims = await owner.claim({ limit: 5 });
        lent.push(...idsOf(claims));
        await owner.finish(...claims.map((claim) => endOf(claim, { kind: "done" })));
        more = claims.length > 0;
      }
      assert.deepEqual(lent.toSorted(), OTHERS);
      for (const key of [idsAt(0, 8), idsAt(2, 6, 10)]) {
        assert.deepEqual(
          lent.filter((id) => key.some((other) => other === id)),
          key,
          "a key is out of its order",
        );
      }
      await assert.rejects(owner.claimOne(idAt(VICTIM)), /not as it was written/);
      assert.equal(owner.store.health?.().spoiled, 1, "it is not counted");
      assert.deepEqual(await owner.listIds(), idsAt(VICTIM));
      assert.equal((await owner.backlog())[0]?.depth, 1);
      assert.deepEqual(owner.store.acknowledgeDamage?.(), idsAt(VICTIM));
    },
  );
}
