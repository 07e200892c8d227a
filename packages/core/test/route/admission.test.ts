import { type Delivery, type Receiver, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Controls } from "../../src/control/controls.ts";
import { Lease } from "../../src/lease/lease.ts";
import { Term } from "../../src/lease/term.ts";
import { Admission } from "../../src/route/admission.ts";
import { Intake, type Reader } from "../../src/route/intake.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { policyOf } from "../support/policy.ts";

const never = new AbortController().signal;

function stage() {
  const clock = new FakeClock();
  const control = new Controls(clock).route("r");
  const lease = new Lease("s", "bridge/s");
  const hold = (): void => lease.taken(new Term(clock, 1, { monotonic: clock.monotonic(), wall: clock.now() }, 60_000));
  hold();
  const admission = new Admission(policyOf({ maxInFlight: 1 }), control, [lease]);
  return { clock, control, lease, hold, admission };
}

type Stage = ReturnType<typeof stage>;

/** What a delivery may have to wait for, and how that ends. */
const WAITS: Readonly<Record<string, { begin(stage: Stage): void; end(stage: Stage): void }>> = {
  "a pause": { begin: ({ control }) => control.pause.pause(), end: ({ control }) => control.pause.resume() },
  "the rate": {
    begin({ control }) {
      control.rate.limit = { messagesPerSecond: 1, burst: 1 };
      void control.rate.take(never);
    },
    end: ({ control }) => void (control.rate.limit = undefined),
  },
  "a lease": { begin: ({ lease }) => lease.term?.end(), end: ({ hold }) => hold() },
  "a slot": {
    begin: ({ admission }) => expect(admission.admit(never)).toBe(true),
    end: ({ admission }) => admission.release(),
  },
};

describe.each(Object.keys(WAITS))("finding 10.1: a delivery that waits for %s", (wait) => {
  test("and is given up leaves its slot to the next one", async () => {
    const given = stage();
    WAITS[wait]?.begin(given);
    const stop = new AbortController();
    const admitted = given.admission.admit(stop.signal);
    await turn();
    stop.abort(new Error("another route reads the source now"));
    expect(await admitted).toBe(false);
    WAITS[wait]?.end(given);
    expect(given.admission.hasRoom).toBe(true);
    expect(await given.admission.admit(never)).toBe(true);
    expect(given.admission.hasRoom).toBe(false);
  });

  test("is admitted when that is over, and not before", async () => {
    const given = stage();
    WAITS[wait]?.begin(given);
    let admitted: boolean | undefined;
    void Promise.resolve(given.admission.admit(never)).then((was) => (admitted = was));
    await turn();
    expect(admitted).toBeUndefined();
    WAITS[wait]?.end(given);
    await turn();
    expect(admitted).toBe(true);
    expect(given.admission.hasRoom).toBe(false);
  });
});

describe.each(Object.keys(WAITS).filter((wait) => wait !== "the rate"))("a source that waits for %s", (wait) => {
  test("is asked when that is over", async () => {
    const given = stage();
    WAITS[wait]?.begin(given);
    let welcome = false;
    const room = given.admission.room(never).then(() => (welcome = true));
    await turn();
    expect(welcome).toBe(false);
    WAITS[wait]?.end(given);
    await room;
  });

  test("is not asked when it is given up before", async () => {
    const given = stage();
    WAITS[wait]?.begin(given);
    const stop = new AbortController();
    const room = given.admission.room(stop.signal);
    await turn();
    stop.abort(new Error("the route stops"));
    await expect(room).rejects.toThrow("the route stops");
  });
});

test("what nothing stands in the way of is admitted at once, not a turn later, and so for each that the rate lets through", () => {
  const { control, lease } = stage();
  const admission = new Admission(policyOf({ maxInFlight: 10 }), control, [lease]);
  const admitted = () => admission.admit(never, new AbortController().signal);
  expect(admitted()).toBe(true);
  control.rate.limit = { messagesPerSecond: 1, burst: 2 };
  expect([admitted(), admitted()]).toEqual([true, true]);
  expect(admitted()).toBeInstanceOf(Promise);
});

/** A source of one delivery, and then nothing. */
function sourceOfOne(): Receiver {
  const delivery: Delivery = { message: { id: "m", subject: "s", payload: new Uint8Array() }, settle() {} };
  return {
    async *receive(signal) {
      yield delivery;
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

test("finding 10.1: a route that is replaced just when a delivery was admitted to it has its slot back", async () => {
  // A few turns of the microtask queue lie between the admission and the handing over.
  for (let at = 0; at < 30; at++) {
    const [first, second] = [stage(), stage()];
    const received: Reader[] = [];
    const one: Reader = { admission: first.admission, receive: () => void received.push(one) };
    const two: Reader = { admission: second.admission, receive: () => void received.push(two) };
    const seams = { clock: first.clock, random: { next: () => 0, id: () => "" }, logger: silentLogger };
    const intake = new Intake("in", sourceOfOne(), seams, policyOf());
    const stop = new AbortController();
    intake.attach(one);
    const running = intake.run(stop.signal);
    first.control.pause.pause();
    await turn();
    first.control.pause.resume();
    for (let passed = 0; passed < at; passed++) await Promise.resolve();
    intake.detach(one);
    intake.attach(two);
    await turn();
    expect(received).toHaveLength(1);
    expect([first.admission.hasRoom, second.admission.hasRoom]).toEqual([received[0] !== one, received[0] !== two]);
    stop.abort();
    await running;
  }
});
