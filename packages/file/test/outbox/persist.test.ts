import { expect, test } from "vitest";
import { outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

test("what is new in a call that also repeats a record is lent in its order", async () => {
  await using store = openScratchOutbox();
  const [known, ...fresh] = ["known", "a", "b", "c"].map((id) => outboxRecord(id));
  await store.persist([known!], signal);
  expect(await store.persist([known!, fresh[0]!, known!, ...fresh.slice(1)], signal)).toMatchObject(
    ["duplicate", "persisted", "duplicate", "persisted", "persisted"].map((kind) => ({ kind })),
  );
  const claims = await store.claim({ ...ROUTE, limit: 10, loanMs: 60_000 }, signal);
  expect(claims.map(({ record }) => record.id)).toEqual(["known", "a", "b", "c"]);
  expect(store.health?.().spoiled).toBeUndefined();
});
