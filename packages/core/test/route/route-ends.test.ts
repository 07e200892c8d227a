import { openMemoryLeases } from "@bridge/memory";
import { type OutboxRecord, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { instantOf, Term } from "../../src/lease/term.ts";
import { Lease } from "../../src/lease/lease.ts";
import type { Link } from "../../src/session/link.ts";
import { turn } from "../support/fake-clock.ts";
import { heldRoute, sourceMessage } from "../support/held-route.ts";
import { bound, refusal } from "../support/memory-bridge.ts";

describe("whether messages can go through a route", () => {
  test("they can as long as it is there, its links are up, and nothing that was given up goes on", () => {
    const { route, parts } = heldRoute({ session: true });
    expect(route.able).toBe(false);
    for (const link of [parts.sourceLink, parts.targets.get("out")?.link]) link?.connectedWith(new Set());
    expect(route.able).toBe(true);
    parts.control.pause.pause();
    expect(route.able).toBe(false);
    parts.control.pause.resume();
    const strays = parts.targets.get("out")?.strays;
    for (let calls = 0; calls < 100; calls++) strays?.add();
    expect(route.able).toBe(false);
    strays?.ended();
    expect(route.able).toBe(true);
    route.retire();
    expect(route.able).toBe(false);
  });

  test("they cannot while calls of one of its processors that were given up do not end, whatever else is well", () => {
    const { route, parts } = heldRoute({
      bindings: ["a", "b"],
      processors: [{ process: (envelope) => ({ kind: "pass", envelope }) }],
    });
    const strays = [...parts.targets.values(), ...parts.processors].map((part) => part.strays);
    for (const one of strays) {
      for (let calls = 0; calls < 100; calls++) one.add();
      expect(route.able).toBe(false);
      one.ended();
      expect(route.able).toBe(true);
    }
  });

  test("what stands still for ten seconds is named", async () => {
    const { clock, route, parts } = heldRoute({
      processors: [{ process: (envelope) => ({ kind: "pass", envelope }) }],
    });
    const full = [parts.targets.get("out")?.strays, parts.processors[0]?.strays];
    for (const strays of full) for (let calls = 0; calls < 100; calls++) strays?.add();
    await clock.advance(9_999);
    expect(route.stuck).toEqual([]);
    await clock.advance(1);
    expect(route.stuck).toEqual(["binding out", "processor p0"]);
    full[0]?.ended();
    expect(route.stuck).toEqual(["processor p0"]);
  });

  test("a session of it may be another instance's", () => {
    const { route, parts } = heldRoute({ session: true, leases: () => openMemoryLeases({ name: "route-ends" }) });
    expect(route.elsewhere).toBe(false);
    parts.targets.get("out")?.link?.lease?.seenElsewhere(true);
    expect(route.elsewhere).toBe(true);
    expect(heldRoute().route.elsewhere).toBe(false);
  });

  test("also that of its source alone", () => {
    const leases = () => openMemoryLeases({ name: "route-ends" });
    const { route, parts } = heldRoute({ session: true, leases }, ({ targets }) => ({
      targets: new Map([...targets].map(([id, target]) => [id, { ...target, link: undefined }])),
    }));
    expect(route.elsewhere).toBe(false);
    parts.sourceLink?.lease?.seenElsewhere(true);
    expect(route.elsewhere).toBe(true);
  });
});

test("of several sessions over which a route sends, one that is another instance's is enough", () => {
  const leases = () => openMemoryLeases({ name: "route-ends" });
  const { route, parts } = heldRoute({ session: true, leases, bindings: ["a", "b", "c"] }, ({ targets }) => ({
    sourceLink: undefined,
    targets: new Map(
      [...targets].map(([id, target]) => {
        if (id === "a") return [id, { ...target, link: undefined }];
        if (id === "b") return [id, target];
        return [id, { ...target, link: { ...target.link, lease: undefined } as unknown as Link }];
      }),
    ),
  }));
  expect(route.elsewhere).toBe(false);
  parts.targets.get("b")?.link?.lease?.seenElsewhere(true);
  expect(route.elsewhere).toBe(true);
});

describe("a route that takes nothing more", () => {
  test("waits for what it has, and no longer than it may", async () => {
    const { route, sender, settled, receive } = heldRoute();
    receive("m1");
    await turn();
    let finished = false;
    const finishing = route.finish(bound()).then(() => (finished = true));
    await turn();
    expect(finished).toBe(false);
    sender.sends[0]?.accept();
    await finishing;
    expect(settled).toMatchObject([{ outcome: "delivered" }]);
    const stop = new AbortController();
    receive("m2");
    await turn();
    const given = route.finish(stop.signal);
    stop.abort();
    await given;
    expect(route.inFlight("m2")).toHaveLength(1);
    route[Symbol.dispose]();
  });

  test.each(["finish", "quiesce"] as const)("abandons what a pause holds, and waits for the rest: %s", async (how) => {
    const { route, parts, sender, settled, receive } = heldRoute();
    receive("sent");
    await turn();
    parts.control.pause.pause();
    route.receive({ message: { id: "held", subject: "s", payload: new Uint8Array() }, settle: () => {} });
    await turn();
    const ended = how === "finish" ? route.finish(bound()) : route.quiesce(bound(), false);
    await turn();
    expect([route.inFlight("held"), route.inFlight("sent").length]).toEqual([[], 1]);
    sender.sends[0]?.accept();
    await ended;
    expect(settled).toMatchObject([{ outcome: "delivered", envelopeId: "sent" }]);
    expect(route.left).toBe(true);
  });

  test("and is cancelled abandons all of it: no source is told, and what comes then is not begun", async () => {
    const { route, sender, settled, receive } = heldRoute({ policy: { maxInFlight: 1 } });
    receive("m1");
    await turn();
    expect(route.left).toBe(false);
    route.cancelAll();
    await turn();
    expect([route.inFlight("m1"), settled, sender.sends[0]?.signal.aborted]).toEqual([[], [], true]);
    expect([route.left, route.able]).toEqual([true, false]);
    receive("m2");
    await turn();
    expect([route.inFlight("m2"), sender.sends.length]).toEqual([[], 1]);
    expect(route.admission.hasRoom).toBe(true);
  });

  test("and is over gives up what it sends, and tells what was left to tell of what it dropped", async () => {
    const lines: (object | undefined)[] = [];
    const logger = {
      ...silentLogger,
      info: (message: string, fields?: object) => {
        if (message.startsWith("messages dropped")) lines.push(fields);
      },
      child: () => logger,
    };
    const { clock, route, sender, receive } = heldRoute({ logger, policy: { onPermanentFailure: "drop" } });
    for (const id of ["m1", "m2", "m3", "m4"]) receive(id);
    await turn();
    for (const { refuse } of sender.sends.slice(0, 3)) refuse(refusal);
    await turn();
    expect(lines).toMatchObject([{ count: 1 }]);
    route[Symbol.dispose]();
    await turn();
    expect([route.inFlight("m4"), sender.sends[3]?.signal.aborted]).toEqual([[], true]);
    expect(lines).toMatchObject([{ count: 1 }, { count: 2, last_envelope_id: "m3" }]);
    await clock.advance(300);
    expect(clock.pending).toBe(0);
  });

  test("has nothing left that its source would have to be told of when the source has taken it back", async () => {
    const { route, receive } = heldRoute();
    const taken = new AbortController();
    receive("m1", { signal: taken.signal });
    await turn();
    taken.abort();
    await turn();
    expect(route.inFlight("m1")).toEqual([]);
    expect(route.left).toBe(false);
  });
});

test("what another instance sends by now is left to it, without a word to the source; another lease concerns no one", async () => {
  const { clock, route, parts, sender, settled, receive } = heldRoute({
    session: true,
    leases: () => openMemoryLeases({ name: "route-ends" }),
  });
  const lease = parts.targets.get("out")?.link?.lease;
  if (lease === undefined) throw new Error("the session has no lease");
  lease.taken(new Term(clock, 1, instantOf(clock), 3_600_000));
  for (const link of [parts.sourceLink, parts.targets.get("out")?.link]) link?.connectedWith(new Set());
  receive("m1");
  await turn();
  expect(route.leaveTo(new Lease("other", "plant/other"))).toBe(false);
  expect(route.inFlight("m1")).toHaveLength(1);
  expect(route.leaveTo(lease)).toBe(true);
  await turn();
  expect([route.inFlight("m1"), settled, sender.sends[0]?.signal.aborted]).toEqual([[], [], true]);
  expect(route.left).toBe(false);
});

test("a delivery that its source has taken back, or that came without the lease, is not begun", async () => {
  const { clock, route, parts, sender, receive } = heldRoute({
    session: true,
    leases: () => openMemoryLeases({ name: "route-ends" }),
  });
  for (const link of [parts.sourceLink, parts.targets.get("out")?.link]) link?.connectedWith(new Set());
  route.receive({ message: sourceMessage("unleased"), settle: () => {} });
  parts.sourceLink?.lease?.taken(new Term(clock, 1, instantOf(clock), 3_600_000));
  receive("taken", { signal: AbortSignal.abort() });
  receive("m1", { signal: new AbortController().signal });
  await turn();
  expect(sender.sends.map(({ envelope }) => envelope.id)).toEqual(["m1"]);
  route[Symbol.dispose]();
});

test("a message that throws when it is read fails by the policy, and whose mistake it is is logged", async () => {
  const told: unknown[] = [];
  const { route, settled, sender, receive } = heldRoute({ policy: { onPermanentFailure: "drop" } }, (parts) => ({
    surprises: Object.assign(parts.surprises, { tell: (...given: unknown[]) => void told.push(given) }),
  }));
  const thrown = new Error("looked at");
  const message = {
    ...sourceMessage("m1"),
    get subject(): string {
      throw thrown;
    },
  };
  receive("m1", { message });
  await turn();
  expect(settled).toMatchObject([{ outcome: "dropped", envelopeId: "m1" }]);
  expect(told).toEqual([["source in", thrown, { envelope_id: "m1" }]]);
  await route.inject(message, bound());
  expect(told[1]).toMatchObject(["source inject", thrown, {}]);
  expect(sender.sends).toEqual([]);
});

test("a delivery that cannot even be read is given back its room, and whose mistake it is is logged", async () => {
  const lines: (object | undefined)[] = [];
  const { route, sender, receive } = heldRoute({ policy: { maxInFlight: 1 } }, (parts) => ({
    surprises: Object.assign(parts.surprises, {
      tell: (where: string, thrown: unknown) => void lines.push({ where, thrown }),
    }),
  }));
  const unreadable = new Proxy({} as AbortSignal, {
    get() {
      throw new Error("looked at");
    },
  });
  receive("m1", { signal: unreadable });
  await turn();
  expect(lines).toEqual([{ where: "receiver in", thrown: new Error("looked at") }]);
  expect([sender.sends.length, route.admission.hasRoom]).toEqual([0, true]);
});

test("a route has a drain for each binding of its outbox; one without an outbox has none, and nothing to give up there", () => {
  const bindings = ["a", "b"];
  const { drains } = heldRoute({ deliveryMode: "shared_outbox", bindings }).route;
  expect(drains.map(({ name }) => name)).toEqual(["outbox r → a", "outbox r → b"]);
  const { route } = heldRoute({ bindings });
  expect(route.drains).toEqual([]);
  route.recovered("a", 5);
  const record = { id: "1", bindingId: "a" } as OutboxRecord;
  route.recordLeft(record, "dead_lettered", true);
  route.giveUp();
  expect([route.hasBinding("a"), route.hasBinding("c")]).toEqual([true, false]);
});
