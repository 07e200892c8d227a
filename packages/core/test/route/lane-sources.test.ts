import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { LegAccount } from "../../src/accounting/leg-account.ts";
import { RouteAccount } from "../../src/accounting/accounts.ts";
import { WayIn, WayOut } from "../../src/route/lane-sources.ts";
import type { RouteParts, Target } from "../../src/route/route-parts.ts";

test.each([
  ["no limit holds anything up", [false, false], false, false],
  ["that of one binding does", [false, true], false, true],
  ["that of the route does", [false, false], true, true],
])("the way in is limited by rates: %s", (_, bindings, route, limited) => {
  const targets = new Map(bindings.map((limiting, index) => [`b${index}`, { rate: { limiting } }]));
  const parts = { targets, control: { rate: { limiting: route } } } as unknown as RouteParts;
  expect(new WayIn(parts).limited).toBe(limited);
});

test("the way in counts what the route has taken and handed on, and what has failed before a binding was chosen", () => {
  const [account, unbound] = [new RouteAccount("r"), new LegAccount("r", "")];
  const wayIn = new WayIn({ account, unbound } as unknown as RouteParts);
  Object.assign(account, { inFlight: 5, ended: 4, handedOn: 3 });
  unbound.fail(new BridgeError("TIMEOUT", "no answer"), 7);
  for (let times = 0; times < 2; times++) unbound.fail(new BridgeError("REJECTED", "no"), 8);
  expect(wayIn.name).toBe("the route");
  expect([wayIn.work, wayIn.ended, wayIn.delivered, wayIn.unanswered, wayIn.refused]).toEqual([5, 4, 3, 1, 2]);
  expect(wayIn.failure).toMatchObject({ code: "REJECTED", at: 8 });
});

test("a way out counts what is on its way to its binding, in an outbox and on loan from one that is shared", () => {
  const account = new LegAccount("r", "out");
  const rate = { limiting: true };
  const wayOut = new WayOut({ bindingId: "out", account, rate } as unknown as Target);
  for (let legs = 0; legs < 3; legs++) account.open("received");
  expect(wayOut.work).toBe(3);
  account.accepted.observe(5);
  account.close("delivered");
  account.close("dropped");
  account.fail(new BridgeError("TIMEOUT", "no answer"), 7);
  expect([wayOut.work, wayOut.ended, wayOut.delivered]).toEqual([1, 2, 1]);
  expect([wayOut.unanswered, wayOut.refused, wayOut.limited]).toEqual([1, 0, true]);
  Object.assign(account, { inOutbox: 4, onLoan: 2 });
  expect(wayOut.work).toBe(5);
  account.onLoan = 6;
  expect(wayOut.work).toBe(7);
  expect([wayOut.name, wayOut.failure?.code]).toEqual(["binding out", "TIMEOUT"]);
});

test("what the outbox books as delivered after a failure was accepted before it, and a duplicate is no delivery at all", () => {
  const account = new LegAccount("r", "out");
  const wayOut = new WayOut({ bindingId: "out", account } as unknown as Target);
  account.open("received");
  account.persist("slowly-booked", true, false);
  account.accepted.observe(5);
  account.fail(new BridgeError("TIMEOUT", "no answer"), 7);
  account.drain("delivered", "slowly-booked", false);
  account.open("received");
  account.close("duplicate");
  expect([wayOut.ended, wayOut.delivered, wayOut.failure?.delivered]).toEqual([2, 1, 1]);
  account.accepted.observe(5);
  expect(wayOut.delivered).toBe(2);
});
