import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

test("injects that wait for room are all answered at a stop, and not one after another when their callers give up", async () => {
  const { hub, clock, supervisor } = memoryBridge({ policy: { maxInFlight: 1 } });
  await supervisor.start(bound());
  using hold = hub.channel("out").sends.hold();
  const answers = Array.from({ length: 4 }, () =>
    supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: bound() }).then(
      () => "delivered",
      (error: unknown) => (error as { kind?: string }).kind,
    ),
  );
  await hub.channel("out").until(({ sends }) => sends.held === 1, bound());
  const stopped = supervisor.stop(bound());
  let answered = 0;
  for (const answer of answers) void answer.then(() => answered++);
  await stopped;
  await clock.advance(100);
  expect(answered).toBe(answers.length);
  expect(await Promise.all(answers)).not.toContain("delivered");
  hold[Symbol.dispose]();
  await supervisor.shutdown();
});

test("an inject leaves nothing behind on its caller's signal, whether or not it has waited for room", async () => {
  const { supervisor } = memoryBridge({ policy: { maxInFlight: 1 } });
  await supervisor.start(bound());
  const { signal } = new AbortController();
  await Promise.all(
    Array.from({ length: 3 }, () => supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal })),
  );
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await supervisor.shutdown();
});
