import { openMemoryLeases } from "@bridge/memory";
import { type Delivery, type Envelope, RESERVED, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { RateLimiter } from "../../src/control/rate-limiter.ts";
import { partKey } from "../../src/change/part-graph.ts";
import { instantOf, Term } from "../../src/lease/term.ts";
import { DirectHold } from "../../src/route/direct-hold.ts";
import { Failures } from "../../src/route/failures.ts";
import type { Target } from "../../src/route/route-parts.ts";
import { Strays } from "../../src/route/strays.ts";
import { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { turn } from "../support/fake-clock.ts";
import { HeldSender } from "../support/held-sender.ts";
import { outage } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

const TIMEOUT_MS = 30_000;
const HOUR_MS = 3_600_000;
const never = new AbortController().signal;

/** A leg of a message to the binding `out`, whose session is connected under a lease that lasts. */
function stage(changes: { readonly address?: Target["address"]; readonly envelope?: Envelope } = {}) {
  let isThere = true;
  const lines: (object | undefined)[] = [];
  const failed: number[] = [];
  const logger = {
    ...silentLogger,
    error: (_: string, fields?: object) => void lines.push(fields),
    child: () => logger,
  };
  const { bridge, parts } = partsOf({
    session: true,
    leases: () => openMemoryLeases({ name: "direct-hold-legs" }),
    logger,
    hooks: { onAttemptFailed: ({ attempt }) => void failed.push(attempt) },
    policy: { sendTimeoutMs: TIMEOUT_MS, onPermanentFailure: "drop" },
  });
  const route = parts.routes.get(partKey.route("r"));
  const built = route?.targets.get("out");
  const link = built?.link;
  const lease = link?.lease;
  if (route === undefined || built === undefined || lease === undefined) throw new Error("no binding under a lease");
  const { clock } = bridge;
  const lasting = (ttlMs: number): Term => new Term(clock, 1, instantOf(clock), ttlMs);
  lease.taken(lasting(HOUR_MS));
  link?.connectedWith(new Set());
  const sender = new HeldSender();
  const target: Target = { ...built, sender, strays: new Strays(clock), ...changes };
  const own = { ...route, targets: new Map([["out", target]]) };
  const hold = new DirectHold(own, new Failures(own));
  const { envelope = envelopeOf() } = changes;
  const delivery: Delivery = { message: envelope, begin: () => isThere, settle: () => {} };
  const workOf = (given: Delivery): Work =>
    new Work({ delivery: given, envelope, origin: "received", startedAt: clock.monotonic() });
  const work = workOf(delivery);
  /** Whoever waits for the answer to `work` leaves. */
  const leave = (): void => void (isThere = false);
  const cancel = (): void => {
    work.cancel();
    hold.cancel(work);
  };
  return { clock, route: own, target, link, lease, lasting, sender, hold, work, workOf, leave, cancel, lines, failed };
}

type Stage = ReturnType<typeof stage>;

/** What a leg may have to wait for, and how that ends. */
const WAITS: Readonly<Record<string, { begin(stage: Stage): void; end(stage: Stage): void }>> = {
  "its session": { begin: ({ link }) => link?.closed(), end: ({ link }) => link?.connectedWith(new Set()) },
  "its paused route": {
    begin: ({ route }) => route.control.pause.pause(),
    end: ({ route }) => route.control.pause.resume(),
  },
  "calls that were given up": {
    begin({ target }) {
      for (let calls = 0; calls < 100; calls++) target.strays.add();
    },
    end: ({ target }) => target.strays.ended(),
  },
  "the rate of its sender": {
    begin({ target }) {
      target.rate.limit = { messagesPerSecond: 0.001, burst: 1 };
      void target.rate.take(never);
    },
    end: ({ target }) => void (target.rate.limit = undefined),
  },
  "a lease that ends before its send might": {
    begin: ({ lease, lasting }) => lease.taken(lasting(TIMEOUT_MS)),
    end: ({ clock, lease }) => lease.term?.renew(instantOf(clock), HOUR_MS),
  },
};

describe.each(Object.keys(WAITS))("a leg that waits for %s", (wait) => {
  test("is sent when that is over and not before, with all of its send_timeout, and nothing is charged", async () => {
    const given = stage();
    const { clock, sender, target, hold, work, failed } = given;
    WAITS[wait]?.begin(given);
    const handed = hold.handOn(work, [target]);
    await clock.advance(TIMEOUT_MS - 5_000);
    expect(sender.sends).toHaveLength(0);
    WAITS[wait]?.end(given);
    await clock.advance(TIMEOUT_MS - 5_000);
    expect(sender.sends.map(({ attempt }) => attempt)).toEqual([1]);
    sender.sends[0]?.accept();
    expect(await handed).toEqual({ disposition: "delivered", failedBindings: [] });
    expect(target.account.read().sends.accepted.sum).toBe(TIMEOUT_MS - 5_000);
    expect(failed).toEqual([]);
  });

  test("and is cancelled meanwhile is abandoned, and never sent", async () => {
    const given = stage();
    const { sender, target, hold, work, cancel } = given;
    WAITS[wait]?.begin(given);
    const handed = hold.handOn(work, [target]);
    await turn();
    cancel();
    expect((await handed).disposition).toBe("abandoned");
    WAITS[wait]?.end(given);
    await turn();
    expect(sender.sends).toHaveLength(0);
    expect(target.account.read()).toMatchObject({ attempts: 0, inFlight: 0, dispositions: { abandoned: 1 } });
  });

  test("and whose caller leaves meanwhile is abandoned when that is over, and never sent", async () => {
    const given = stage();
    const { clock, sender, target, hold, work, leave, failed } = given;
    WAITS[wait]?.begin(given);
    const handed = hold.handOn(work, [target]);
    await clock.advance(1_000);
    leave();
    WAITS[wait]?.end(given);
    await clock.advance(1_000);
    expect((await handed).disposition).toBe("abandoned");
    expect([sender.sends, failed]).toEqual([[], []]);
    expect(target.account.read()).toMatchObject({ attempts: 0, inFlight: 0, dispositions: { abandoned: 1 } });
  });
});

test("callers who leave while they wait for the rate of a sender leave their turns to the next, who is sent at once", async () => {
  const { clock, sender, target, hold, work, workOf } = stage();
  target.rate.limit = { messagesPerSecond: 1, burst: 1 };
  await target.rate.take(never);
  const left = Array.from({ length: 20 }, () => workOf({ ...work.delivery, begin: () => false }));
  const handed = [...left, work].map((each) => hold.handOn(each, [target]));
  await clock.advance(900);
  expect(sender.sends).toHaveLength(0);
  await clock.advance(200);
  sender.sends[0]?.accept();
  const ends = (await Promise.all(handed)).map(({ disposition }) => disposition);
  expect(ends).toEqual([...left.map(() => "abandoned"), "delivered"]);
  expect(sender.sends).toHaveLength(1);
});

describe("legs of one message that share the rate of their sender", () => {
  /** Three of each message, at a sender that has let its burst of three go already. */
  function rated() {
    const given = stage();
    const { target, work, workOf } = given;
    target.rate.limit = { messagesPerSecond: 1, burst: 3 };
    void target.rate.take(never, 3);
    const targets = ["a", "b", "c"].map((bindingId) => ({ ...target, bindingId }));
    const works = (count: number, begin: () => boolean) =>
      Array.from({ length: count }, () => workOf({ ...work.delivery, begin }));
    return { ...given, targets, works };
  }

  test("are sent together, so that no turn is spent on a message whose caller leaves before all have theirs", async () => {
    const { clock, sender, hold, works, targets } = rated();
    const all = works(20, () => true);
    for (const work of all) void hold.handOn(work, targets);
    await clock.advance(2_900);
    expect(sender.sends).toHaveLength(0);
    for (const work of all.slice(0, 10)) work.cancel();
    await clock.advance(200);
    expect(all.map(({ sends }) => sends)).toEqual(all.map((_, place) => (place === 10 ? 3 : 0)));
    await clock.advance(3_000);
    expect(all.map(({ sends }) => sends)).toEqual(all.map((_, place) => (place === 10 || place === 11 ? 3 : 0)));
  });

  test("leave all their turns to the next message when their caller has left before they are sent", async () => {
    const { clock, sender, target, hold, works, targets } = rated();
    for (const work of works(20, () => false)) void hold.handOn(work, targets);
    for (const work of works(1, () => true)) void hold.handOn(work, targets);
    await clock.advance(3_100);
    expect(sender.sends).toHaveLength(3);
    expect(target.account.read().dispositions).toMatchObject({ abandoned: 60 });
  });

  test("leave them also when their caller has left while they waited for something else", async () => {
    const { clock, link, sender, hold, works, targets } = rated();
    link?.closed();
    await clock.advance(3_000);
    for (const work of works(1, () => false)) void hold.handOn(work, targets);
    await turn();
    link?.connectedWith(new Set());
    await turn();
    for (const work of works(1, () => true)) void hold.handOn(work, targets);
    await turn();
    expect(sender.sends).toHaveLength(3);
  });

  test("take a turn each when they are tried again", async () => {
    const { clock, sender, hold, works, targets } = rated();
    for (const work of works(1, () => true)) void hold.handOn(work, targets);
    await clock.advance(3_010);
    for (const send of sender.sends) send.refuse(outage);
    await clock.advance(2_000);
    const tried = sender.sends.length;
    expect(tried).toBeGreaterThan(3);
    expect(tried).toBeLessThan(6);
  });
});

test("a leg that is cancelled while it waits for its lease leaves its turn to the next", async () => {
  const { clock, sender, target, lease, lasting, hold, work, workOf, cancel } = stage();
  target.rate.limit = { messagesPerSecond: 0.001, burst: 1 };
  lease.taken(lasting(TIMEOUT_MS));
  const handed = hold.handOn(work, [target]);
  await turn();
  cancel();
  await handed;
  lease.term?.renew(instantOf(clock), HOUR_MS);
  void hold.handOn(workOf(work.delivery), [target]);
  await turn();
  expect(sender.sends).toHaveLength(1);
});

test("what has been sent stays when its caller leaves: to the other targets, and at the next attempt", async () => {
  const { clock, sender, target, hold, work, leave } = stage();
  const other: Target = { ...target, bindingId: "other", rate: new RateLimiter(clock) };
  other.rate.limit = { messagesPerSecond: 1, burst: 1 };
  await other.rate.take(never);
  const handed = hold.handOn(work, [target, other]);
  await turn();
  leave();
  sender.sends[0]?.refuse(outage);
  await clock.until(() => sender.sends.length === 3);
  for (const send of sender.sends) send.accept();
  expect(await handed).toMatchObject({ disposition: "delivered" });
});

test("a caller who leaves before anything was sent is waited for at no other target, either", async () => {
  const { clock, sender, target, hold, work, leave } = stage();
  const slow: Target = { ...target, bindingId: "slow", rate: new RateLimiter(clock) };
  for (const [{ rate }, messagesPerSecond] of [
    [target, 1],
    [slow, 0.01],
  ] as const) {
    rate.limit = { messagesPerSecond, burst: 1 };
    await rate.take(never);
  }
  let ended: string | undefined;
  void hold.handOn(work, [target, slow]).then(({ disposition }) => (ended = disposition));
  leave();
  await clock.advance(1_100);
  expect([ended, sender.sends]).toEqual(["abandoned", []]);
});

test("a source that fails when it is asked whether a delivery is wanted still is told of in the log, and it is sent", async () => {
  const { clock, sender, target, hold, work, workOf, lines } = stage();
  target.rate.limit = { messagesPerSecond: 1, burst: 1 };
  await target.rate.take(never);
  const begin = (): never => {
    throw new TypeError("no");
  };
  const handed = hold.handOn(workOf({ ...work.delivery, begin }), [target]);
  await clock.advance(1_100);
  sender.sends[0]?.accept();
  expect((await handed).disposition).toBe("delivered");
  expect(lines).toMatchObject([{ where: "receiver in", error: "no" }]);
});

test("when calls that were given up do not end, the binding that waits for them is named", async () => {
  const given = stage();
  const { clock, target, hold, work, cancel, lines } = given;
  WAITS["calls that were given up"]?.begin(given);
  const handed = hold.handOn(work, [target]);
  await clock.advance(11_000);
  expect(lines).toEqual([{ part: "binding out", calls: 100 }]);
  cancel();
  await handed;
});

test("a leg whose session is lost while it waits for its turn waits for the session, and for another turn", async () => {
  const { clock, sender, target, link, hold, work, cancel } = stage();
  target.rate.limit = { messagesPerSecond: 1, burst: 1 };
  await target.rate.take(never);
  const handed = hold.handOn(work, [target]);
  await turn();
  link?.closed();
  await clock.advance(1_500);
  expect(sender.sends).toHaveLength(0);
  link?.connectedWith(new Set());
  await clock.advance(400);
  expect(sender.sends).toHaveLength(0);
  await clock.advance(200);
  expect(sender.sends).toHaveLength(1);
  cancel();
  await handed;
});

test("a turn that a leg has had lasts while it waits for its lease, and each attempt takes one of its own", async () => {
  const { clock, sender, target, lease, lasting, hold, work, cancel } = stage();
  target.rate.limit = { messagesPerSecond: 0.1, burst: 1 };
  lease.taken(lasting(TIMEOUT_MS));
  const handed = hold.handOn(work, [target]);
  await turn();
  lease.term?.renew(instantOf(clock), HOUR_MS);
  await turn();
  expect(sender.sends).toHaveLength(1);
  sender.sends[0]?.refuse(outage);
  await clock.advance(9_000);
  expect(sender.sends).toHaveLength(1);
  await clock.advance(1_500);
  expect(sender.sends).toHaveLength(2);
  cancel();
  await handed;
});

test("the attempts of a message that nobody would recognise are counted while it is held", async () => {
  const { clock, sender, target, hold, work, failed } = stage({
    envelope: envelopeOf({ headers: { [RESERVED.generatedId]: "true" } }),
  });
  const handed = hold.handOn(work, [target]);
  for (const attempt of [1, 2, 3]) {
    await clock.until(() => sender.sends.length === attempt);
    const send = sender.sends.at(-1);
    expect(send?.attempt).toBe(attempt);
    if (attempt < 3) send?.refuse(outage);
    else send?.accept();
  }
  await handed;
  await clock.advance(0);
  expect(failed).toEqual([1, 2]);
});

test("a leg that is cancelled while it is sent is abandoned: nothing is charged, and nothing is a surprise", async () => {
  const { clock, sender, target, hold, work, cancel, lines, failed } = stage();
  const handed = hold.handOn(work, [target]);
  await turn();
  cancel();
  expect((await handed).disposition).toBe("abandoned");
  await clock.advance(100);
  expect(sender.sends[0]?.signal.aborted).toBe(true);
  expect([failed, lines]).toEqual([[], []]);
  expect(target.account.read()).toMatchObject({ attempts: 1, inFlight: 0, dispositions: { abandoned: 1 } });
});

test("an address that cannot be worked out is BINDING_UNRESOLVED and no attempt; whose mistake it is is logged", async () => {
  const { clock, sender, target, hold, work, lines, failed } = stage({
    address: () => {
      throw new TypeError("no such device");
    },
  });
  const { disposition, error } = await hold.handOn(work, [target]);
  expect(disposition).toBe("dropped");
  expect(error).toMatchObject({ code: "BINDING_UNRESOLVED", message: "the address failed: no such device" });
  expect(lines[0]).toMatchObject({ where: "binding out", error: "no such device", envelope_id: "m1" });
  await clock.advance(100);
  expect([sender.sends, failed]).toEqual([[], []]);
});

test("operators 6.4: how a leg has ended is remembered, with when its target accepted it", async () => {
  const { clock, route, sender, target, hold, work } = stage();
  const handed = hold.handOn(work, [target]);
  await clock.advance(300);
  sender.sends[0]?.accept();
  await handed;
  const [leg] = route.recent.legs.find("m1", 5);
  expect(leg).toMatchObject({ routeId: "r", bindingId: "out", outcome: "delivered", at: clock.now() });
  expect(target.account.read().endToEnd.sum).toBe(300);
});

test("how legs end is kept with the message only while somebody looks at the route", async () => {
  const { sender, target, hold, work } = stage();
  const handed = hold.handOn(work, [target]);
  await turn();
  sender.sends[0]?.accept();
  await handed;
  expect(work.legs).toBeUndefined();
});
