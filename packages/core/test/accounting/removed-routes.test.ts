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
    const totalOfRoutes = (count: (route: ReturnType<typeof accounts.routes>[number]) => number) =>
      accounts.routes().reduce((sum, route) => sum + count(route), 0);
    return [
      total((leg) => leg.received),
      total((leg) => leg.dispositions.delivered),
      total((leg) => leg.sends.accepted.sum),
      total((leg) => leg.sends.failed.sum),
      total((leg) => leg.endToEnd.sum),
      total((leg) => leg.outboxAge.sum),
      totalOfRoutes((route) => route.hold.sum),
      totalOfRoutes((route) => route.settleFailures),
      totalOfRoutes((route) => route.outboxWriteFailures),
      unaccounted(legs),
    ];
  };
  for (let reload = 1; reload <= 5_000; reload++) {
    const id = `route-${reload}`;
    const leg = accounts.leg(id, "out");
    leg.open("received");
    leg.close("delivered");
    for (const histogram of [leg.accepted, leg.failed, leg.endToEnd, leg.outboxAge, accounts.route(id).hold]) {
      histogram.observe(1);
    }
    accounts.route(id).settleFailures++;
    accounts.route(id).outboxWriteFailures++;
    accounts.follow({ ...config, routes: config.routes.map((route) => ({ ...route, id })) });
    if (reload % 500 !== 0) continue;
    expect(sums()).toEqual([...Array.from({ length: 9 }, () => reload), 0]);
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
  accounts.leg("old", "out").drain("dead_lettered", "record", false);
  accounts.follow(config);
  expect(accounts.legs()).not.toContainEqual(expect.objectContaining({ routeId: "old" }));
  expect(accounts.legs()).toContainEqual(expect.objectContaining({ routeId: "", recovered: 1 }));
  expect(unaccounted(accounts.legs())).toBe(0);
});
