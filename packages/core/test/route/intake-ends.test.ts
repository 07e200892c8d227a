import { BridgeError, type Delivery, type LogFields, type Receiver, silentLogger } from "@bridge/ports";
import { afterEach, expect, test, vi } from "vitest";
import { Controls } from "../../src/control/controls.ts";
import { Admission } from "../../src/route/admission.ts";
import { Intake, type Reader } from "../../src/route/intake.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { policyOf } from "../support/policy.ts";

afterEach(() => void vi.useRealTimers());

function stage(receive: Receiver["receive"]) {
  const clock = new FakeClock();
  const warned: LogFields[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields: LogFields = {}) => void warned.push({ message, ...fields }),
  };
  const receiver: Receiver = { receive, [Symbol.asyncDispose]: () => Promise.resolve() };
  const seams = { clock, random: { next: () => 0.5, id: () => "" }, logger };
  const intake = new Intake("in", receiver, seams, policyOf());
  const reader: Reader = {
    admission: new Admission(policyOf(), new Controls(clock).route("r"), []),
    receive: () => reader.admission.release(),
  };
  intake.attach(reader);
  const stop = new AbortController();
  return { clock, warned, intake, stop, running: intake.run(stop.signal) };
}

test("a source that does not end when it is asked to is left after 10 s, and the next iteration begins", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let begun = 0;
  const { intake, stop, warned, running } = stage((signal) => {
    begun++;
    const next = (): Promise<IteratorResult<Delivery>> =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve({ done: true, value: undefined }), { once: true }),
      );
    const iterator = { next, return: () => new Promise<never>(() => {}) };
    return { [Symbol.asyncIterator]: () => iterator };
  });
  await turn();
  intake.restart();
  await vi.advanceTimersByTimeAsync(9_000);
  expect(begun).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(begun).toBe(2);
  expect(warned).toMatchObject([{ message: "source did not end as it should", code: "TIMEOUT" }]);
  stop.abort();
  await vi.advanceTimersByTimeAsync(11_000);
  await running;
});

test("a source that cannot be told to end has ended, and the next iteration begins", async () => {
  let begun = 0;
  const { intake, stop, warned, running } = stage((signal) => {
    begun++;
    const next = (): Promise<IteratorResult<Delivery>> =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve({ done: true, value: undefined }), { once: true }),
      );
    return { [Symbol.asyncIterator]: () => ({ next }) };
  });
  await turn();
  intake.restart();
  await turn();
  expect([begun, warned]).toEqual([2, []]);
  stop.abort();
  await running;
});

test("a source that has handed something out since it was lost is asked again soon when it is lost again", async () => {
  let iterations = 0;
  const { clock, stop, warned, running } = stage(async function* () {
    if (++iterations === 4) yield { message: { id: "m", subject: "s", payload: new Uint8Array() }, settle() {} };
    throw new BridgeError("CONNECTION_LOST", "lost");
  });
  await clock.until(() => warned.length === 5, 100);
  expect(warned.map(({ failures }) => failures)).toEqual([1, 2, 3, 1, 2]);
  stop.abort();
  await running;
});
