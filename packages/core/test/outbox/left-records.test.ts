import type { BridgeConfig } from "@bridge/config";
import type { OutboxStore } from "@bridge/ports";
import { silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { LeftRecords } from "../../src/outbox/left-records.ts";
import { FakeClock } from "../support/fake-clock.ts";

const configOf = (...routes: string[]): BridgeConfig =>
  ({
    routes: routes.map((id) => ({ id, deliveryMode: "shared_outbox", bindings: ["out"] })),
  }) as unknown as BridgeConfig;

test.each([
  { whose: "that others may have ended", shared: true },
  { whose: "whose end was said and not answered", shared: false },
])("of two routes only the records $whose of the one that is configured no more are asked for", async ({ shared }) => {
  const clock = new FakeClock();
  const accounts = new Accounts();
  for (const routeId of ["gone", "stays"]) {
    const account = accounts.leg(routeId, "out");
    account.open("received");
    account.persist(routeId, true, shared);
    if (!shared) account.doubt(routeId, "delivered");
  }
  const asked: string[] = [];
  const store = {
    shared,
    status: async (id: string) => {
      asked.push(id);
      return asked.length < 3 ? "pending" : "done";
    },
  } as unknown as OutboxStore;
  const root = new AbortController();
  const left = new LeftRecords({
    clock,
    logger: silentLogger,
    store: () => store,
    accounts: () => accounts.all,
    root: root.signal,
  });
  left.follow(configOf("gone", "stays"));
  expect(clock.pending).toBe(0);
  for (let nth = 0; nth < 2; nth++) left.follow(configOf("stays"));
  expect(clock.pending).toBe(1);
  await clock.until(() => asked.length === 3, 500);
  await clock.advance(5_000);
  expect(asked).toEqual(["gone", "gone", "gone"]);
  expect(["gone", "stays"].map((routeId) => accounts.leg(routeId, "out").inOutbox)).toEqual([0, 1]);
  expect(clock.pending).toBe(0);
});

test("a route that is back is left to its drain, and nothing is asked for any more when the process ends", async () => {
  const clock = new FakeClock();
  const accounts = new Accounts();
  const account = accounts.leg("r", "out");
  account.open("received");
  account.persist("record", true, true);
  const root = new AbortController();
  const options = { clock, logger: silentLogger, accounts: () => accounts.all, root: root.signal };
  const left = new LeftRecords({ ...options, store: () => undefined });
  left.follow(configOf());
  await left.release(configOf());
  expect(clock.pending).toBe(1);
  await left.release(configOf("r"));
  expect(clock.pending).toBe(0);
  left.follow(configOf());
  expect(clock.pending).toBe(1);
  root.abort();
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});
