import { SuiteClock } from "@bridge/conformance";
import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openOutbox, openScratchOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

test("keys that wait for a retry are counted after a restart, before anybody has claimed", async () => {
  using scratch = scratchFolder();
  {
    await using store = openOutbox(scratch.path);
    await store.persist(
      [outboxRecord("r1", { orderingKey: "key" }), outboxRecord("r2", { orderingKey: "key" })],
      signal,
    );
    const [head] = await store.claim({ ...ROUTE, limit: 1, loanMs: 60_000 }, signal);
    await store.finish([end(head!, { kind: "retry", delayMs: 600_000, attempts: 1 })], signal);
  }
  await using store = openOutbox(scratch.path);
  expect(await store.backlog(signal)).toMatchObject([{ depth: 2, blockedKeys: 1 }]);
});

test("a key whose oldest record was lent before its time is blocked again as soon as that loan has lapsed", async () => {
  for (const look of ["blockedKeys", "backlog"] as const) {
    const clock = new SuiteClock(1_000_000);
    await using store = openScratchOutbox({ clock });
    await store.persist([outboxRecord("r1", { orderingKey: "key" })], signal);
    const head = await store.claimOne("r1", 1_000, signal);
    await store.finish([end(head!, { kind: "retry", delayMs: 600_000, attempts: 1 })], signal);
    await store.claimOne("r1", 1_000, signal);
    const blocked = async (): Promise<number | undefined> =>
      look === "backlog"
        ? (await store.backlog(signal))[0]?.blockedKeys
        : (await store.blockedKeys?.({}, 10, signal))?.length;
    await clock.pass(999);
    expect([look, await blocked()]).toEqual([look, 0]);
    await clock.pass(1);
    expect([look, await blocked()]).toEqual([look, 1]);
  }
});
