import assert from "node:assert/strict";
import { type OutboxCheck, type Stage, staged } from "./check.ts";
import { again, idAt, record, records } from "./outbox-records.ts";
import { endOf, idsOf, type Owner } from "./owner.ts";

const RACERS = 20;

/** What callers may do at once, over two handles where there are two. */
export const RACING_CHECKS = {
  "of claims that race, each record goes to one": staged(async (stage) => {
    await stage.owner.add(...records(200, (i) => ({ orderingKey: i % 4 === 0 ? `key-${i % 3}` : undefined })));
    const claims = (await race(stage, (hands) => hands.claim({ limit: 13 }))).flat();
    claims.push(...(await stage.owner.claim()));
    assert.equal(new Set(idsOf(claims)).size, claims.length, "a record was lent twice");
    assert.equal(new Set(claims.map(({ token }) => token)).size, claims.length, "a token was given twice");
  }),
  "of claims that race for one key, one gets its head and no other gets any of it": staged(async (stage) => {
    await stage.owner.add(...records(50, () => ({ orderingKey: "key" })));
    const claims = (await race(stage, (hands) => hands.claim({ limit: 2 }))).filter(({ length }) => length > 0);
    assert.deepEqual(claims.map(idsOf), [["r0000", "r0001"]]);
  }),
  "of lapsed loans that are claimed at once, each goes to one": staged(async (stage) => {
    await stage.owner.add(...records(60));
    assert.equal((await stage.owner.claim({ loanMs: 1_000 })).length, 60);
    await stage.time.pass(1_000);
    const ids = (await race(stage, (hands) => hands.claim({ limit: 5 }))).flatMap(idsOf);
    assert.equal(new Set(ids).size, ids.length, "a record was lent twice");
  }),
  "of claims of one record that race, one gets it": staged(async (stage) => {
    await stage.owner.add(...records(2));
    const lent = (
      await race(stage, async (hands, i) => {
        if (i % 2 === 0) return (await hands.claimOne("r0000"))?.record.id ?? [];
        return idsOf(await hands.claim({ limit: 1 }));
      })
    ).flat();
    assert.equal(new Set(lent).size, lent.length, "a record was lent twice");
    assert.ok(lent.includes("r0000"));
  }),
  "of ends of one loan that race, one is entered": staged(async (stage) => {
    await stage.owner.add(record("a"));
    const claim = await stage.owner.claimOnly("a");
    const entered = await race(stage, (hands, i) => hands.end(claim, { kind: i % 2 === 0 ? "done" : "dead" }));
    assert.equal(entered.filter((entry) => entry).length, 1);
    assert.equal(await stage.owner.status("a"), entered.indexOf(true) % 2 === 0 ? "done" : "dead");
  }),
  "of one message that is persisted at once, one record is kept": staged(async (stage) => {
    const rivals = Array.from({ length: RACERS }, (_, i) => again(record("a"), { id: `rival-${i}` }));
    const results = await race(stage, async (hands, i) => hands.persist(...rivals.slice(i, i + 1)));
    const kept = results.flat().flatMap((result, i) => (result.kind === "persisted" ? [`rival-${i}`] : []));
    assert.equal(kept.length, 1, `${kept.length} callers are told that theirs is persisted`);
    for (const [i, [result]] of results.entries()) {
      if (`rival-${i}` !== kept[0]) assert.deepEqual(result, { kind: "duplicate", id: kept[0], status: "pending" });
    }
    assert.deepEqual(await stage.owner.claimIds(), kept);
  }),
  "of records under one identity that are persisted at once, one is kept": staged(async (stage) => {
    const results = await race(stage, async (hands, i) => hands.persist(record(`${i}`, { identity: "redrive" })));
    const winner = results.findIndex(([result]) => result?.kind === "persisted");
    const expected = { kind: "duplicate", id: `${winner}`, status: "pending" };
    assert.deepEqual(
      results.flat().filter((_, i) => i !== winner),
      Array.from({ length: RACERS - 1 }, () => expected),
    );
    assert.deepEqual(await stage.owner.listIds(), [`${winner}`]);
  }),
  "of two payloads under one id that are persisted at once, one is kept": staged(async (stage) => {
    const digests = ["one", "other"];
    const results = await race(stage, async (hands, i) =>
      hands.persist(record(`${i}`, { payloadDigest: digests[i % 2] ?? "", envelope: { id: "same" } })),
    );
    const winner = results.findIndex(([result]) => result?.kind === "persisted");
    for (const [i, [result]] of results.entries()) {
      const expected = i % 2 === winner % 2 ? "duplicate" : "conflict";
      if (i !== winner) assert.equal(result?.kind, expected);
    }
    assert.deepEqual(await stage.owner.listIds(), [`${winner}`]);
  }),
  "what is persisted, claimed and finished at once ends once each": staged(async ({ owner, other, signal }) => {
    const total = 400;
    const done: string[] = [];
    const all = records(total, (i) => ({ orderingKey: i % 3 === 0 ? `key-${i % 7}` : undefined }));
    const produce = async (hands: Owner, from: number): Promise<void> => {
      for (let i = from; i < total; i += 40) await hands.add(...all.slice(i, i + 20));
    };
    const drain = async (hands: Owner): Promise<void> => {
      while (done.length < total) {
        signal.throwIfAborted();
        const claims = await hands.claim({ limit: 30 });
        const entered = await hands.finish(...claims.map((claim) => endOf(claim, { kind: "done" })));
        done.push(...idsOf(claims.filter((_, i) => entered[i])));
        // A store in memory would keep everybody else from their turn.
        if (claims.length === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([produce(owner, 0), produce(other, 20), drain(owner), drain(other), drain(owner)]);
    assert.deepEqual(
      done.toSorted(),
      all.map((_, i) => idAt(i)),
    );
    assert.deepEqual(await owner.backlog(), []);
  }),
} as const satisfies Record<string, OutboxCheck>;

function race<T>({ owner, other }: Stage, run: (hands: Owner, index: number) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: RACERS }, (_, i) => run(i % 2 === 0 ? owner : other, i)));
}
