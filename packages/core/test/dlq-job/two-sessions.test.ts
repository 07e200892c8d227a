import type { BridgeConfig } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { pair } from "../lease/pair.ts";
import { AT_ONCE, begun, fill, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

/** A second route beside `r`, over a session of its own. */
function withSecond(config: BridgeConfig): BridgeConfig {
  const sessions = config.sessions.flatMap((session) => [session, { ...session, id: "s2" }]);
  const [receiver, sender, binding, route] = [
    config.receivers[0],
    config.senders[0],
    config.bindings[0],
    config.routes[0],
  ];
  if (receiver === undefined || sender === undefined || binding === undefined || route === undefined) return config;
  return {
    ...config,
    sessions,
    stores: { ...config.stores, dlq: { type: "test", reach: "cluster", options: {} } },
    receivers: [
      receiver,
      { ...receiver, id: "in2", sessionId: "s2", options: { ...(receiver.options as object), channel: "in2" } },
    ],
    senders: [sender, { ...sender, id: "out2", sessionId: "s2" }],
    bindings: [binding, { ...binding, id: "out2", senderId: "out2", sessionId: "s2", address: "out2" }],
    routes: [
      route,
      { ...route, id: "r2", receiverId: "in2", bindings: ["out2"], resolver: { type: "static", bindings: ["out2"] } },
    ],
  };
}

test("operators 3.5.3: of two exclusive sessions each is held by another instance: one job over both routes completes", async () => {
  const dlq = openMemoryDlq({ maxEntries: 1_000 });
  await using stage = await pair({ config: withSecond, dlq: async () => seenDlq(dlq, () => {}) });
  const { hub, clock, a, b } = stage;
  for (const half of ["source", "target"] as const) hub.link("plant-a s2", half).down();
  const holds = ({ supervisor }: typeof a, sessionId: string): boolean | undefined =>
    supervisor.view().sessions.find((session) => session.sessionId === sessionId)?.hasLease;
  await clock.until(() => holds(b, "s2") === true && holds(a, "s2") === false);
  expect([holds(a, "s"), holds(b, "s")]).toEqual([true, false]);

  await fill(dlq, 120, (nth) => (nth % 2 === 0 ? {} : { routeId: "r2", bindingId: "out2" }));
  const job = await begun(a, { settings: AT_ONCE });
  expect(job.plan.lanes.map(({ routeId, why }) => [routeId, why])).toEqual([
    ["r", undefined],
    ["r2", expect.stringContaining("lease of session s2 is")],
  ]);
  const done = await until(a, job.id, "completed");
  expect(done.counts).toMatchObject({ succeeded: 120, failed: 0, skipped: 0, inDoubt: 0 });
  expect([hub.channel("out").arrived, hub.channel("out2").arrived]).toEqual([60, 60]);
  expect(await stored(dlq)).toEqual([]);
  for (const { supervisor } of [a, b]) {
    expect(supervisor.stats().unaccounted).toBe(0);
    expect(supervisor.stats().jobs.adoptions).toBe(0);
  }
});
