import { openMemoryLeases } from "@bridge/memory";
import { type Clock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { instantOf, Term } from "../../src/lease/term.ts";
import type { Target } from "../../src/route/route-parts.ts";
import { turn } from "../support/fake-clock.ts";
import { heldRoute, sourceMessage } from "../support/held-route.ts";
import { bound } from "../support/memory-bridge.ts";
import { RecordingTracer } from "../support/recording-tracer.ts";

describe("where a message is that is not settled", () => {
  test("nowhere yet while its processors have it, then at each binding that has not answered", async () => {
    const processed = Promise.withResolvers<void>();
    const { clock, route, sender, receive } = heldRoute({
      dispatchMode: "fan_out",
      bindings: ["a", "b", "c"],
      processors: [
        {
          async process(envelope) {
            await processed.promise;
            return { kind: "pass", envelope };
          },
        },
      ],
    });
    const since = clock.now();
    receive("m1");
    await clock.advance(500);
    expect(route.inFlight("m1")).toEqual([{ routeId: "r", bindingId: "", since, attempts: 0 }]);
    expect(route.inFlight("m2")).toEqual([]);
    processed.resolve();
    await turn();
    const at = (bindingId: string) => ({ routeId: "r", bindingId, since, attempts: 3 });
    expect(route.inFlight("m1")).toEqual([at("a"), at("b"), at("c")]);
    sender.sends.find(({ address }) => address === "b")?.accept();
    await turn();
    expect(route.inFlight("m1")).toEqual([at("a"), at("c")]);
    for (const { accept } of sender.sends) accept();
    await turn();
    expect(route.inFlight("m1")).toEqual([]);
    route[Symbol.dispose]();
  });
});

describe("whether dead letters could be redriven through a route", () => {
  const SESSIONS = { session: true, dispatchMode: "fan_out", bindings: ["a", "b"] } as const;

  test("when its session is connected; in an outbox they wait for that", () => {
    const down = { kind: "waits", why: "session s is not connected" };
    const held = heldRoute(SESSIONS);
    expect(held.route.standing).toEqual(down);
    held.parts.targets.get("a")?.link?.connectedWith(new Set());
    expect(held.route.standing).toEqual({ kind: "ready" });
    expect(heldRoute({ ...SESSIONS, deliveryMode: "shared_outbox" }).route.standing).toEqual({ kind: "ready" });
    expect(heldRoute().route.standing).toEqual({ kind: "ready" });
  });

  test("when one of its sessions is connected at least", () => {
    const { route } = heldRoute(SESSIONS, ({ targets }) => {
      const [a, b] = [targets.get("a"), targets.get("b")];
      if (a === undefined || b === undefined) throw new Error("the route lacks a binding");
      return {
        targets: new Map([
          ["a", a],
          ["b", { ...b, link: undefined }],
        ]),
      };
    });
    expect(route.standing).toEqual({ kind: "ready" });
  });

  test("not while it is paused, and in a moment when it is replaced or stopped", () => {
    const { route, parts } = heldRoute();
    parts.control.pause.pause();
    expect(route.standing).toEqual({ kind: "waits", why: "route is paused" });
    route.retire();
    expect(route.standing).toEqual({ kind: "soon" });
    const stopped = heldRoute().route;
    stopped.cancelAll();
    expect(stopped.standing).toEqual({ kind: "soon" });
  });

  test("not without the lease of its session, and who has it is told", () => {
    const { route, parts } = heldRoute({ ...SESSIONS, leases: () => openMemoryLeases({ name: "route" }) });
    const lease = parts.targets.get("a")?.link?.lease;
    expect(route.standing).toEqual({ kind: "waits", why: "lease of session s is not held" });
    lease?.seenElsewhere(true);
    expect(route.standing).toEqual({ kind: "waits", why: "lease of session s is held by another instance" });
  });
});

test("work that cannot even begin gives its slot back", async () => {
  let broken = true;
  const tracer = new RecordingTracer();
  const { route, sender } = heldRoute({ policy: { maxInFlight: 1 }, tracer }, (parts) => ({
    tracer: {
      binding: (binding) => parts.tracer!.binding(binding),
      deliver(start) {
        if (broken) throw new Error("no span");
        return parts.tracer!.deliver(start);
      },
    },
  }));
  await expect(route.inject(sourceMessage("m1"), bound())).rejects.toThrow("no span");
  broken = false;
  const injected = route.inject(sourceMessage("m2"), bound());
  await turn();
  sender.sends[0]?.accept();
  expect(await injected).toMatchObject({ envelopeId: "m2", outcome: "delivered" });
});

test("a bug that not even the failure of its message holds for ends its span, and its delivery stays unsettled", async () => {
  const tracer = new RecordingTracer();
  const broken = (): never => {
    throw new Error("beyond repair");
  };
  const { route, settled, bugs, receive } = heldRoute({ tracer }, ({ surprises }) => ({
    resolver: broken,
    surprises: Object.assign(surprises, { tell: broken }),
  }));
  receive("m1");
  await turn();
  expect([settled, bugs]).toMatchObject([[], [{ message: "beyond repair" }]]);
  expect(tracer.of("deliver")[0]?.ends).toMatchObject([{ outcome: "abandoned", error: { message: "beyond repair" } }]);
  expect(route.inFlight("m1")).toEqual([]);
});

test("sends are traced when their delivery is", async () => {
  for (const sampled of [true, false]) {
    const tracer = Object.assign(new RecordingTracer(), { sampled });
    const asked: number[] = [];
    const { sender, receive } = heldRoute({ tracer }, ({ targets }) => ({
      targets: new Map(
        [...targets].map(([id, target]) => [
          id,
          {
            ...target,
            tracer: {
              send(start: Parameters<NonNullable<Target["tracer"]>["send"]>[0]) {
                asked.push(start.attempt);
                return target.tracer?.send(start);
              },
            },
          },
        ]),
      ),
    }));
    receive("m1");
    await turn();
    sender.sends[0]?.accept();
    await turn();
    expect(asked).toEqual(sampled ? [1] : []);
    expect(tracer.of("send")).toHaveLength(sampled ? 1 : 0);
  }
});

describe("a message is given up when its source takes it back", () => {
  /** More than what is watched before signals that nobody uses are forgotten. */
  const OTHERS = 1_500;

  test("by its own signal, however many came after it", async () => {
    const { route, sender, settled, receive } = heldRoute({ policy: { maxInFlight: 10 } });
    const taken = new AbortController();
    receive("kept");
    receive("taken", { signal: taken.signal });
    for (let at = 0; at < OTHERS; at++) {
      receive(`m${at}`, { signal: new AbortController().signal });
      sender.sends.pop()?.accept();
      await turn();
    }
    expect(settled).toHaveLength(OTHERS);
    taken.abort();
    await turn();
    expect(route.inFlight("taken")).toEqual([]);
    expect(route.inFlight("kept")).toHaveLength(1);
    route[Symbol.dispose]();
  });

  test("by the end of the lease that it came under, however many came after it", async () => {
    const { clock, parts, route, sender, settled, receive } = heldRoute({
      session: true,
      leases: () => openMemoryLeases({ name: "route" }),
      policy: { maxInFlight: 10 },
    });
    const lease = parts.sourceLink?.lease;
    const term = new Term(clock, 1, instantOf(clock), 3_600_000);
    lease?.taken(term);
    for (const { link } of parts.targets.values()) link?.connectedWith(new Set());
    receive("taken");
    for (let at = 0; at < OTHERS; at++) {
      receive(`m${at}`, { signal: new AbortController().signal });
      sender.sends.pop()?.accept();
      await turn();
    }
    expect(settled).toHaveLength(OTHERS);
    const { signal } = sender.sends[0] ?? {};
    term.end();
    await turn();
    expect(route.inFlight("taken")).toEqual([]);
    expect(signal?.aborted).toBe(true);
  });
});

test("a message that is delivered at once costs two looks at the clock: when it was taken, and when it was accepted", async () => {
  let looks = 0;
  const { route, sender, settled, receive } = heldRoute({}, ({ clock }) => ({
    clock: {
      now: () => clock.now(),
      monotonic() {
        looks++;
        return clock.monotonic();
      },
      delay: (ms, signal) => clock.delay(ms, signal),
      every: (ms, tick) => clock.every(ms, tick),
      after: (ms, fire) => clock.after(ms, fire),
      turn: (run) => clock.turn(run),
    } satisfies Clock,
  }));
  const before = looks;
  receive("m1");
  await turn();
  sender.sends[0]?.accept();
  await turn();
  expect(settled).toEqual([{ kind: "accept", outcome: "delivered", envelopeId: "m1" }]);
  expect(looks - before).toBe(2);
  route[Symbol.dispose]();
});
