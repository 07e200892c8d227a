import { expect, test } from "vitest";
import { closePhases, releasePhases } from "../../src/runtime/close-phases.ts";
import { NO_PARTS, type RuntimeParts } from "../../src/runtime/runtime-parts.ts";

/** Parts that say when they are closed. */
function parts(closed: string[]): RuntimeParts {
  const part = (name: string) => ({ [Symbol.asyncDispose]: async () => void closed.push(name) });
  return {
    ...NO_PARTS,
    leases: new Map([["lease s", {}]]),
    links: new Map([
      ["link s", { sessionId: "s", session: part("session s") }],
      ["link t", { sessionId: "t", session: part("session t") }],
    ]),
    intakes: new Map([["receiver in", { receiver: part("receiver in") }]]),
    senders: new Map([["sender out", part("sender out")]]),
    processors: new Map([
      ["processor p", { processor: part("processor p") }],
      ["processor plain", { processor: {} }],
    ]),
    managed: new Set(["s"]),
  } as unknown as RuntimeParts;
}

test("spec 3.3: each part is closed in a phase of its own, sessions once their keepers have ended", async () => {
  const closed: string[] = [];
  const ended = new Map([["link s", Promise.withResolvers<void>()]]);
  const phases = closePhases(parts(closed), (key) => ended.get(key)?.promise);
  expect(phases.map(({ name, ceilingMs }) => [name, ceilingMs])).toEqual(
    ["session manager", "unmanaged session t", "receiver in", "sender out", "processor p", "processor plain"].map(
      (name) => [name, 5_000],
    ),
  );
  const [first, ...others] = phases.map((phase) => phase.run());
  await Promise.all(others);
  expect(closed.toSorted()).toEqual(["processor p", "receiver in", "sender out", "session t"]);
  ended.get("link s")?.resolve();
  await first;
  expect(closed.at(-1)).toBe("session s");
});

test("a lease is released when its keeper has ended, which has 15 s for that", async () => {
  const released = Promise.withResolvers<void>();
  const [phase, ...others] = releasePhases(parts([]), (key) => (key === "lease s" ? released.promise : undefined));
  expect([phase?.name, phase?.ceilingMs, others]).toEqual(["lease s", 15_000, []]);
  let over = false;
  const run = phase?.run().then(() => (over = true));
  await Promise.resolve();
  expect(over).toBe(false);
  released.resolve();
  await run;
});
