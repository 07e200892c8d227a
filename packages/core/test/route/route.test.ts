import { openMemoryLeases } from "@bridge/memory";
import { type Clock, type Delivery, type Settlement, type SourceMessage } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { partKey } from "../../src/change/part-graph.ts";
import { instantOf, Term } from "../../src/lease/term.ts";
import { Route } from "../../src/route/route.ts";
import type { RouteParts, Target } from "../../src/route/route-parts.ts";
import { Strays } from "../../src/route/strays.ts";
import { turn } from "../support/fake-clock.ts";
import { HeldSender } from "../support/held-sender.ts";
import { bound, type MemoryBridgeOptions } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";
import { RecordingTracer } from "../support/recording-tracer.ts";

const message = (id: string): SourceMessage => ({ id, subject: "s", payload: new Uint8Array() });

/** A route whose bindings send through a sender that a test answers for. */
function stage(options: MemoryBridgeOptions = {}, change: (parts: RouteParts) => Partial<RouteParts> = () => ({})) {
  const { bridge, parts } = partsOf(options);
  const built = parts.routes.get(partKey.route("r"));
  if (built === undefined) throw new Error("the bridge has no route");
  const { clock } = bridge;
  const sender = new HeldSender();
  const targets = new Map<string, Target>(
    [...built.targets].map(([id, target]) => [id, { ...target, sender, strays: new Strays(clock) }]),
  );
  const own = { ...built, targets };
  const bugs: unknown[] = [];
  const route = new Route({ ...own, ...change(own) }, (bug) => void bugs.push(bug));
  const settled: Settlement[] = [];
  const receive = (id: string, more: Partial<Delivery> = {}): void => {
    expect(route.admission.admit(bound())).toBe(true);
    route.receive({ message: message(id), settle: (settlement) => void settled.push(settlement), ...more });
  };
  return { clock, parts: own, route, sender, settled, bugs, receive };
}

describe("where a message is that is not settled", () => {
  test("nowhere yet while its processors have it, then at each binding that has not answered", async () => {
    const processed = Promise.withResolvers<void>();
    const { clock, route, sender, receive } = stage({
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
    const held = stage(SESSIONS);
    expect(held.route.standing).toEqual(down);
    held.parts.targets.get("a")?.link?.connectedWith(new Set());
    expect(held.route.standing).toEqual({ kind: "ready" });
    expect(stage({ ...SESSIONS, deliveryMode: "shared_outbox" }).route.standing).toEqual({ kind: "ready" });
    expect(stage().route.standing).toEqual({ kind: "ready" });
  });

  test("when one of its sessions is connected at least", () => {
    const { route } = stage(SESSIONS, ({ targets }) => {
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
    const { route, parts } = stage();
    parts.control.pause.pause();
    expect(route.standing).toEqual({ kind: "waits", why: "route is paused" });
    route.retire();
    expect(route.standing).toEqual({ kind: "soon" });
    const stopped = stage().route;
    stopped.cancelAll();
    expect(stopped.standing).toEqual({ kind: "soon" });
  });

  test("not without the lease of its session, and who has it is told", () => {
    const { route, parts } = stage({ ...SESSIONS, leases: () => openMemoryLeases({ name: "route" }) });
    const lease = parts.targets.get("a")?.link?.lease;
    expect(route.standing).toEqual({ kind: "waits", why: "lease of session s is not held" });
    lease?.seenElsewhere(true);
    expect(route.standing).toEqual({ kind: "waits", why: "lease of session s is held by another instance" });
  });
});

test("work that cannot even begin gives its slot back", async () => {
  let broken = true;
  const tracer = new RecordingTracer();
  const { route, sender } = stage({ policy: { maxInFlight: 1 }, tracer }, (parts) => ({
    tracer: {
      binding: (binding) => parts.tracer!.binding(binding),
      deliver(start) {
        if (broken) throw new Error("no span");
        return parts.tracer!.deliver(start);
      },
    },
  }));
  await expect(route.inject(message("m1"), bound())).rejects.toThrow("no span");
  broken = false;
  const injected = route.inject(message("m2"), bound());
  await turn();
  sender.sends[0]?.accept();
  expect(await injected).toMatchObject({ envelopeId: "m2", outcome: "delivered" });
});

test("a bug that not even the failure of its message holds for ends its span, and its delivery stays unsettled", async () => {
  const tracer = new RecordingTracer();
  const broken = (): never => {
    throw new Error("beyond repair");
  };
  const { route, settled, bugs, receive } = stage({ tracer }, ({ surprises }) => ({
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
    const { sender, receive } = stage({ tracer }, ({ targets }) => ({
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
    const { route, sender, settled, receive } = stage({ policy: { maxInFlight: 10 } });
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
    const { clock, parts, route, sender, settled, receive } = stage({
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
  const { route, sender, settled, receive } = stage({}, ({ clock }) => ({
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
