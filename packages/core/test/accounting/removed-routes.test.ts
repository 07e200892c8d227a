import { expect, test } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { unaccounted } from "../../src/accounting/leg-account.ts";
import { memoryBridge } from "../support/memory-bridge.ts";

test("thousands of routes that come and go cost no memory without end, and no count is lost", () => {
  const accounts = new Accounts();
  const { config } = memoryBridge();
  const sums = (): readonly number[] => {
    const legs = accounts.legs();
    const total = (count: (leg: (typeof legs)[number]) => number) => legs.reduce((sum, leg) => sum + count(leg), 0);
    const failures = accounts.routes().reduce((sum, route) => sum + route.settleFailures, 0);
    return [total((leg) => leg.received), total((leg) => leg.dispositions.delivered), failures, unaccounted(legs)];
  };
  for (let reload = 1; reload <= 5_000; reload++) {
    const id = `route-${reload}`;
    const leg = accounts.leg(id, "out");
    leg.open("received");
    leg.close("delivered");
    accounts.route(id).settleFailures++;
    accounts.follow({ ...config, routes: config.routes.map((route) => ({ ...route, id })) });
    if (reload % 500 === 0) expect(sums()).toEqual([reload, reload, reload, 0]);
    expect(accounts.legs().length).toBeLessThan(1_010);
    expect(accounts.routes().length).toBeLessThan(1_010);
  }
});

test("what is still in the outbox of a removed route is told apart until it is out", () => {
  const accounts = new Accounts();
  const { config } = memoryBridge({ empty: true });
  accounts.leg("old", "out").recover(1);
  for (let other = 0; other < 2_000; other++) accounts.leg(`route-${other}`, "out");
  accounts.follow(config);
  expect(accounts.legs()).toContainEqual(expect.objectContaining({ routeId: "old", inOutbox: 1 }));
  accounts.leg("old", "out").drain("dead_lettered");
  accounts.follow(config);
  expect(accounts.legs()).not.toContainEqual(expect.objectContaining({ routeId: "old" }));
  expect(accounts.legs()).toContainEqual(expect.objectContaining({ routeId: "", recovered: 1 }));
  expect(unaccounted(accounts.legs())).toBe(0);
});
