import { getEventListeners, once } from "node:events";
import { createServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { deadline, orAborted, patientDeadline } from "../src/async.ts";
import { systemClock, systemRandom } from "../src/system.ts";

describe("orAborted", () => {
  test("gives the promise's outcome, or the signal's reason if that comes first", async () => {
    const stop = new AbortController();
    await expect(orAborted(Promise.resolve(1), stop.signal)).resolves.toBe(1);
    await expect(orAborted(Promise.reject(new Error("own")), stop.signal)).rejects.toThrow("own");
    const waiting = orAborted(new Promise(() => {}), stop.signal);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(orAborted(Promise.reject(new Error("late")), stop.signal)).rejects.toThrow("enough");
  });

  test("leaves no listener behind", async () => {
    const { signal } = new AbortController();
    await orAborted(Promise.resolve(), signal);
    await orAborted(Promise.reject(new Error("x")), signal).catch(() => {});
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

test("a deadline aborts with its reason, and not after it was disposed", async () => {
  const reason = new Error("over");
  using short = deadline(systemClock, 1, reason);
  await expect(orAborted(new Promise(() => {}), short.signal)).rejects.toBe(reason);
  const cleared = deadline(systemClock, 1, reason);
  cleared[Symbol.dispose]();
  await systemClock.delay(20, new AbortController().signal);
  expect(cleared.signal.aborted).toBe(false);
});

describe("a patient deadline", () => {
  test("aborts with its reason when nothing comes, at its time, and not after it was disposed", async () => {
    const reason = new Error("over");
    const begun = systemClock.monotonic();
    using short = patientDeadline(systemClock, 50, reason);
    await expect(orAborted(new Promise(() => {}), short.signal)).rejects.toBe(reason);
    expect(systemClock.monotonic() - begun).toBeGreaterThanOrEqual(49);
    const cleared = patientDeadline(systemClock, 20, reason);
    await systemClock.delay(10, new AbortController().signal);
    cleared[Symbol.dispose]();
    await systemClock.delay(40, new AbortController().signal);
    expect(cleared.signal.aborted).toBe(false);
  });

  test("does not give up what has happened while the process had no turn", async () => {
    await using server = createServer();
    // Timers are next then, and what the system has to tell comes after them.
    await setImmediate();
    using limit = patientDeadline(systemClock, 100, new Error("not bound"));
    server.listen({ host: "localhost", port: 0 });
    const bound = once(server, "listening");
    const until = systemClock.monotonic() + 300;
    while (systemClock.monotonic() < until);
    await expect(orAborted(bound, limit.signal)).resolves.toBeDefined();
  });
});

describe("the machine's time", () => {
  test("a delay ends early with the signal's reason and leaves no listener behind", async () => {
    const stop = new AbortController();
    const long = systemClock.delay(60_000, stop.signal);
    await systemClock.delay(1, stop.signal);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    stop.abort(new Error("enough"));
    await expect(long).rejects.toThrow("enough");
    await expect(systemClock.delay(1, stop.signal)).rejects.toThrow("enough");
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  });

  test("ticks until disposed", async () => {
    let ticks = 0;
    const ticking = systemClock.every(1, () => void ticks++);
    await expect.poll(() => ticks).toBeGreaterThan(1);
    ticking[Symbol.dispose]();
    const then = ticks;
    await systemClock.delay(20, new AbortController().signal);
    expect(ticks).toBe(then);
  });
});

test("ids never repeat, neither in one instance nor across two", () => {
  const [one, two] = [systemRandom(), systemRandom()];
  const ids = new Set<string>();
  for (let count = 0; count < 10_000; count++) ids.add(one.id()).add(two.id());
  expect(ids.size).toBe(20_000);
});
