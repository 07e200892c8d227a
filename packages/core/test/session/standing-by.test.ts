import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { keptLink } from "./kept-link.ts";

/** A link whose routes may send only under a lease, which another instance has at first. */
async function standingBy() {
  const lost = Promise.withResolvers<BridgeError>();
  let asked = 0;
  const reconcile = async () => {
    asked++;
    return new Set(["queue"]);
  };
  const standby = { others: true };
  const kept = keptLink({ closed: lost.promise, reconcile }, () => standby.others);
  await turn();
  return { ...kept, standby, lost, asked: () => asked };
}

test("a standby is connected and asks for no messages, which nobody could send here, until it has the lease", async () => {
  const { link, clock, standby, ended, asked } = await standingBy();
  expect([link.connected, link.subscriptionsWanted, asked()]).toEqual([true, 0, 0]);
  await clock.advance(60_000);
  await turn();
  expect(asked()).toBe(0);
  standby.others = false;
  await clock.advance(500);
  await turn();
  expect([link.connected, link.subscriptionsWanted, link.subscriptionsActive, asked()]).toEqual([true, 1, 1, 1]);
  expect(link.connects).toBe(1);
  expect(await ended()).toBe(0);
});

test("a standby whose connection is lost says so, and leaves no timer of its looks", async () => {
  const { link, clock, lost, ended } = await standingBy();
  lost.resolve(new BridgeError("CONNECTION_LOST", "lost"));
  await turn();
  // That of the next attempt to connect.
  expect([link.connected, link.subscriptionsWanted, link.failures, clock.pending]).toEqual([false, 1, 1, 1]);
  expect(await ended()).toBe(0);
});
