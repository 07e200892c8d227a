import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqAdmin, type DlqStore, type Logger, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { entryOf, started, stored } from "../dlq-job/job-bridge.ts";
import { turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

type Deleting = DlqAdmin["delete"];

/** A store that is closed for good, whose deletes a test has in hand. */
function storeWith(deleting: (inner: Deleting) => Deleting) {
  const inner = openMemoryDlq({ maxEntries: 1_000 });
  const view = { inner, isClosed: false };
  const store: DlqStore = {
    ...inner,
    get: (id, signal) => (view.isClosed ? Promise.reject(closed()) : inner.get(id, signal)),
    admin: {
      ...inner.admin,
      delete: deleting((ids, signal) => (view.isClosed ? Promise.reject(closed()) : inner.admin.delete(ids, signal))),
    },
    async [Symbol.asyncDispose]() {
      view.isClosed = true;
    },
  };
  return Object.assign(view, { store });
}

const closed = () => new BridgeError("UNAVAILABLE", "dlq.db is closed", { charged: false });
const full = () => new BridgeError("UNAVAILABLE", "the disk does not keep up", { charged: false });

async function filled(dlq: DlqStore, count: number): Promise<readonly string[]> {
  const entries = Array.from({ length: count }, (_, nth) => entryOf(nth));
  for (const entry of entries) await dlq.put(entry, bound());
  return entries.map(({ id }) => id);
}

test.each(["stop", "shutdown"] as const)(
  "spec 4.6.10: once a %s has begun, what is in flight settles and nothing more begins",
  async (call) => {
    const { store, inner } = storeWith((deleting) => deleting);
    const { hub, supervisor } = await started({ dlq: store, policy: { maxInFlight: 2 } });
    const ids = await filled(store, 40);
    const hold = hub.channel("out").sends.hold();
    const redriven = supervisor.redrive(ids, bound());
    await hub.channel("out").until(({ sends }) => sends.held === 2, bound());
    const stopped = call === "stop" ? supervisor.stop(bound()) : supervisor.shutdown();
    await expect.poll(() => supervisor.state().kind).not.toBe("running");
    await turn();
    hold[Symbol.dispose]();
    const { redriven: count, errors } = await redriven;
    expect(new Set(errors.map(({ error }) => error))).toEqual(new Set(["not attempted"]));
    expect([count, errors.length, hub.channel("out").arrived]).toEqual([2, 38, 2]);
    await stopped;
    expect(await stored(inner)).toHaveLength(38);
    await supervisor.shutdown();
  },
);

test("finding 4: what is delivered as the bridge ends is deleted before its store closes", async () => {
  const slow = Promise.withResolvers<void>();
  const { store, inner } = storeWith((deleting) => async (ids, signal) => {
    await slow.promise;
    return deleting(ids, signal);
  });
  const { hub, supervisor } = await started({ dlq: store });
  const ids = await filled(store, 3);
  const redriven = supervisor.redrive(ids, bound());
  await hub.channel("out").until(({ arrived }) => arrived === 3, bound());
  const ended = supervisor.shutdown();
  for (let turns = 0; turns < 20; turns++) await turn();
  slow.resolve();
  expect(await redriven).toMatchObject({ redriven: 3, failed: 0 });
  await ended;
  expect(await stored(inner)).toEqual([]);
});

test("finding 2: what was delivered and could not be deleted is deleted at the end, when the store lets it be", async () => {
  let refuses = true;
  const { store, inner } = storeWith(
    (deleting) => (ids, signal) =>
      refuses ? Promise.reject(new BridgeError("UNAVAILABLE", "disk gone")) : deleting(ids, signal),
  );
  const { supervisor } = await started({ dlq: store });
  const ids = await filled(store, 5);
  expect(await supervisor.redrive(ids, bound())).toMatchObject({ redriven: 0, failed: 5 });
  // Failed again meanwhile: another failure under the same id, which stays.
  await inner.admin.delete([ids[0] ?? ""], bound());
  await inner.put(entryOf(0, { failedAt: 77 }), bound());
  refuses = false;
  await supervisor.shutdown();
  expect(await stored(inner)).toEqual(ids.slice(0, 1));
});

test("finding 2: a store that takes no more writes for the moment is waited for, and no entry is left that was delivered", async () => {
  let refused = 0;
  const { store, inner } = storeWith(
    (deleting) => (ids, signal) => (refused++ < 40 ? Promise.reject(full()) : deleting(ids, signal)),
  );
  const { clock, supervisor, hub } = await started({ dlq: store });
  const ids = await filled(store, 20);
  let result: unknown;
  void supervisor.redrive(ids, bound()).then((told) => (result = told));
  await clock.until(() => result !== undefined);
  expect(result).toEqual({ redriven: 20, failed: 0, errors: [] });
  expect([await stored(inner), hub.channel("out").arrived]).toEqual([[], 20]);
  await supervisor.shutdown();
});

test("finding 2: a store that deletes nothing is told of now and then, with a count, and at the end with what is left", async () => {
  const { store } = storeWith(() => () => Promise.reject(new BridgeError("UNAVAILABLE", "disk gone")));
  const told: unknown[] = [];
  const error: Logger["error"] = (line, fields) => void told.push([line.slice(0, 33), fields?.["count"]]);
  const logger: Logger = { ...silentLogger, error, child: () => logger };
  const { clock, supervisor } = await started({ dlq: store, logger });
  const ids = await filled(store, 50);
  expect(await supervisor.redrive(ids.slice(0, 49), bound())).toMatchObject({ failed: 49 });
  expect(told).toEqual([["redriven entries not deleted: unt", 1]]);
  await clock.advance(10_000);
  await supervisor.redrive(ids.slice(49), bound());
  expect(told.at(-1)).toEqual(["redriven entries not deleted: unt", 49]);
  await supervisor.shutdown();
  expect(told.at(-1)).toEqual(["redriven entries are delivered an", 50]);
});
