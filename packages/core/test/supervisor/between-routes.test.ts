import type { BridgeConfig } from "@bridge/config";
import { openMemoryOutbox } from "@bridge/memory";
import { type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { AT_ONCE, begun, entryOf, fill, stored, until } from "../dlq-job/job-bridge.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { withAttempts } from "../support/two-routes.ts";

/** A change under way whose routes have retired, and whose next ones wait for a store to open; `open` opens it. */
async function between(change: (config: BridgeConfig) => BridgeConfig) {
  const clock = new FakeClock();
  const [asked, opening] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let opened = 0;
  const outbox = async (): Promise<OutboxStore> => {
    if (opened++ > 0) {
      asked.resolve();
      await opening.promise;
    }
    return openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  };
  const block = { type: "test", reach: "process", options: {} } as const;
  const bridge = memoryBridge({
    clock,
    outbox,
    policy: { maxReplayAttempts: 1 },
    config: (plain) => ({ ...plain, stores: { ...plain.stores, outbox: block } }),
  });
  const { supervisor, config } = bridge;
  await supervisor.start(bound());
  await fill(bridge.dlq, 2);
  const stores = { ...config.stores, outbox: { ...block, options: { other: true } } };
  const applied = supervisor.apply({ ...change(config), stores }, bound());
  await asked.promise;
  for (let turns = 0; turns < 10; turns++) await turn();
  expect(supervisor.state().kind).toBe("swapping");
  return { bridge, applied, open: () => opening.resolve() };
}

const replaced = "the route is being replaced by a change of configuration: try again";
const message = { subject: "s", payload: new Uint8Array() };

test("while a change waits for a store, a route that comes again is being replaced, and not one that nobody knows", async () => {
  const { bridge, applied, open } = await between((config) => withAttempts(config, "r", 2));
  const { supervisor, hub, dlq } = bridge;
  const unavailable = { kind: "unavailable", message: replaced };
  await expect(supervisor.inject("r", message, { signal: bound() })).rejects.toMatchObject(unavailable);
  const { id } = entryOf(0);
  expect(await supervisor.redrive([id], bound())).toMatchObject({ errors: [{ id, error: replaced }] });
  open();
  expect(await applied).toBe("applied");
  expect(await supervisor.inject("r", message, { signal: bound() })).toMatchObject({ outcome: "delivered" });
  expect(await supervisor.redrive([id], bound())).toMatchObject({ redriven: 1 });
  expect([hub.channel("out").arrived, (await stored(dlq)).length]).toEqual([2, 1]);
  await supervisor.shutdown();
});

test("a job waits until the route of its entries is there again, and none of them fails", async () => {
  const { bridge, applied, open } = await between((config) => withAttempts(config, "r", 2));
  const { supervisor, clock, dlq } = bridge;
  const { id } = await begun(bridge, { settings: AT_ONCE });
  await clock.advance(5_000);
  expect((await supervisor.jobs().get(id, bound())).counts).toMatchObject({ succeeded: 0, failed: 0 });
  open();
  await applied;
  const { counts } = await until(bridge, id, "completed");
  expect([counts, await stored(dlq)]).toMatchObject([{ succeeded: 2, failed: 0 }, []]);
  await supervisor.shutdown();
});

test("a route that the change takes away is not known any more once the change is made", async () => {
  const { bridge, applied, open } = await between((config) => ({ ...config, routes: [] }));
  const { supervisor } = bridge;
  open();
  await applied;
  await expect(supervisor.inject("r", message, { signal: bound() })).rejects.toMatchObject({ kind: "not_found" });
  await supervisor.shutdown();
});
