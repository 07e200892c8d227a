import { DatabaseSync } from "node:sqlite";
import { type LogFields, type OutboxStore, silentLogger } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { expect, test, vi } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

/** The ids of all that are lent now; they are delivered. */
async function delivered(store: OutboxStore): Promise<readonly string[]> {
  const claims = await store.claim({ ...ROUTE, limit: 100, loanMs: 60_000 }, signal);
  await store.finish(
    claims.map((claim) => end(claim, { kind: "done" })),
    signal,
  );
  return claims.map(({ record }) => record.id);
}

/** A file with records r0 to r4, of which something was changed while nobody had it open. */
async function changed(scratch: { readonly path: string }, sql: string, orderingKey?: string): Promise<void> {
  {
    await using store = openOutbox(scratch.path);
    const fields = { received: outboxRecord("x", {}, 3).envelope, ...(orderingKey !== undefined && { orderingKey }) };
    await store.persist(
      Array.from({ length: 5 }, (_, i) => outboxRecord(`r${i}`, fields, 2_000)),
      signal,
    );
  }
  const db = new DatabaseSync(scratch.path);
  db.exec(sql);
  db.close();
}

test.each([
  ["payload", "UPDATE content SET payload = CAST('other' AS BLOB) WHERE number = 2"],
  ["received payload", "UPDATE content SET received_payload = CAST('abc' AS BLOB) WHERE number = 2"],
  ["address", "UPDATE content SET address = 'addresr' WHERE number = 2"],
  ["headers", "UPDATE content SET envelope = replace(envelope, 'value', 'valuf') WHERE number = 2"],
  ["envelope, so that it cannot be read", "UPDATE content SET envelope = '[' WHERE number = 2"],
  ["received envelope", "UPDATE content SET received = replace(received, 'value', 'valuf') WHERE number = 2"],
  ["ordering key", "UPDATE record SET ordering_key = 'other' WHERE number = 2"],
  ["dead letter that it redrives", "UPDATE record SET entry_id = 'other' WHERE number = 2"],
  ["digest", "UPDATE record SET payload_digest = 'digesu' WHERE number = 2"],
  ["seal", "UPDATE content SET seal = zeroblob(32) WHERE number = 2"],
  ["id", "UPDATE record SET id = 'r9' WHERE number = 2", "r9"],
  ["record itself, which is gone", "DELETE FROM record WHERE number = 2", "of number 2"],
])(
  "finding 3.3, finding 1.8: a record whose %s has changed is kept, counted and never sent; all others are",
  async (_, sql, id = "r1") => {
    for (const key of [undefined, "key"]) {
      using scratch = scratchFolder();
      await changed(scratch, sql, key);
      const errors: [string, LogFields | undefined][] = [];
      const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
      await using store = openOutbox(scratch.path, { logger });
      expect(await delivered(store)).toEqual(["r0", "r2", "r3", "r4"]);
      expect(store.health?.()).toMatchObject({ fault: undefined, setAside: [], spoiled: 1 });
      expect(errors).toMatchObject([
        [expect.stringMatching(/is kept, and not sent/), { record_id: id, route_id: "route" }],
      ]);
      expect(await store.backlog(signal)).toMatchObject([{ depth: 1 }]);
      const heads = await store.list({}, { limit: 10, offset: 0 }, signal);
      // One of which nothing is left but its content has nothing that a list could show.
      expect(heads.map((head) => head.id)).toEqual(id.startsWith("of number") ? [] : [id]);
      await store.persist([outboxRecord("r5", key === undefined ? {} : { orderingKey: key })], signal);
      expect(await delivered(store)).toEqual(["r5"]);
    }
  },
);

test("finding 3.3: a spoiled record is found again after a restart, and put aside when an operator acknowledges it", async () => {
  using scratch = scratchFolder();
  await changed(scratch, "UPDATE content SET payload = CAST('other' AS BLOB) WHERE number = 2");
  {
    await using store = openOutbox(scratch.path);
    await expect(store.claimOne("r1", 1_000, signal)).rejects.toThrow(
      /record "r1" of the outbox is not as it was written/,
    );
  }
  {
    await using store = openOutbox(scratch.path);
    expect(await delivered(store)).toHaveLength(4);
    expect(store.health?.().spoiled).toBe(1);
    expect(store.acknowledgeDamage?.()).toEqual(["r1"]);
    await store.persist([outboxRecord("later")], signal);
    expect(store.health?.().spoiled).toBeUndefined();
    expect(await store.backlog(signal)).toMatchObject([{ depth: 1 }]);
    expect(await store.status("r1", signal)).toBe("dead");
  }
  const db = new DatabaseSync(scratch.path);
  expect(db.prepare("SELECT number, CAST(payload AS TEXT) AS payload FROM spoiled").all()).toEqual([
    { number: 2, payload: "other" },
  ]);
  db.close();
});

test("a record whose envelope cannot be read is listed without a subject and an id of it", async () => {
  using scratch = scratchFolder();
  await changed(scratch, "UPDATE content SET envelope = '[' WHERE number = 2");
  await using store = openOutbox(scratch.path);
  expect(await store.list({}, { limit: 2, offset: 0 }, signal)).toMatchObject([
    { id: "r0", envelopeId: "envelope of r0", subject: "subject" },
    { id: "r1", envelopeId: "", subject: "" },
  ]);
});

test("a record that is said to be of a lane that is not there is lent among those of its own, and not by its id", async () => {
  using scratch = scratchFolder();
  await changed(scratch, "UPDATE record SET lane = 9 WHERE number = 2");
  await using store = openOutbox(scratch.path);
  expect(await store.claimOne("r1", 1_000, signal)).toBeUndefined();
  expect(await delivered(store)).toEqual(["r0", "r1", "r2", "r3", "r4"]);
});

test("a spoiled record that could not be put aside is told of, and still counted", async () => {
  using scratch = scratchFolder();
  await changed(scratch, "UPDATE content SET payload = CAST('other' AS BLOB) WHERE number = 2");
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (line: string) => void warnings.push(line) };
  const disk = { full: false };
  const sync = () => (disk.full ? Promise.reject(new Error("no space left")) : Promise.resolve());
  await using store = openOutbox(scratch.path, { logger, sync });
  await delivered(store);
  disk.full = true;
  expect(store.acknowledgeDamage?.()).toEqual(["r1"]);
  await vi.waitFor(() => expect(warnings).toContain("spoiled records were not put aside"), PATIENCE);
  expect(store.health?.().spoiled).toBe(1);
});

test("finding 3.3: records whose route has been lost refuse the file", async () => {
  using scratch = scratchFolder();
  await changed(scratch, "UPDATE lane SET lane = 3");
  expect(() => openOutbox(scratch.path)).toThrow(/the file is damaged: .*it has records of no route/);
});
