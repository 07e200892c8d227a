import { BridgeError, type Delivery, type Processor, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { partKey } from "../../src/change/part-graph.ts";
import { DirectHold } from "../../src/route/direct-hold.ts";
import { Failures } from "../../src/route/failures.ts";
import { Process } from "../../src/route/process.ts";
import type { RouteParts } from "../../src/route/route-parts.ts";
import { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { partsOf } from "../support/parts-of.ts";

function stage(processors: readonly Processor[] = [], changes: Partial<RouteParts> = {}) {
  const lines: (object | undefined)[] = [];
  const failed: string[] = [];
  const logger = {
    ...silentLogger,
    error: (_: string, fields?: object) => void lines.push(fields),
    child: () => logger,
  };
  const { bridge, parts } = partsOf({
    processors,
    logger,
    hooks: { onAttemptFailed: ({ error }) => void failed.push(error.message) },
    policy: { onPermanentFailure: "drop" },
  });
  const built = parts.routes.get(partKey.route("r"));
  if (built === undefined) throw new Error("the bridge has no route");
  const { clock } = bridge;
  const route = { ...built, ...changes };
  const failures = new Failures(route);
  const process = new Process(route, failures, new DirectHold(route, failures));
  const envelope = envelopeOf();
  const workOf = (more: Partial<Delivery>): Work => {
    const delivery: Delivery = { message: envelope, settle: () => {}, ...more };
    return new Work({ delivery, envelope, origin: "received", startedAt: clock.monotonic() });
  };
  return { clock, route, process, work: workOf({}), workOf, lines, failed };
}

test("a resolver that throws chooses no binding: no repeat helps, and whose mistake it is is logged", async () => {
  const { process, work, lines, failed } = stage([], {
    resolver: () => {
      throw new TypeError("no such field");
    },
  });
  const { disposition, error } = await process.run(work, undefined);
  expect(disposition).toBe("dropped");
  expect(error).toMatchObject({
    code: "BINDING_UNRESOLVED",
    message: "the resolver failed: no such field",
    charged: false,
  });
  expect(lines[0]).toMatchObject({ where: "the resolver", error: "no such field", envelope_id: "m1" });
  expect(failed).toEqual([]);
});

test("what nobody foresaw fails its message for good, and says what it was", async () => {
  const { route, process, work, lines } = stage();
  const { disposition, error } = await process.failed(work, new TypeError("x is not a function"));
  expect(disposition).toBe("dropped");
  expect(error).toMatchObject({
    code: "INVALID_PAYLOAD",
    message: "the message could not be handled: x is not a function",
    charged: false,
  });
  expect(lines[0]).toMatchObject({ where: "the route", error: "x is not a function", envelope_id: "m1" });
  expect(route.recent.legs.find("m1", 5)).toMatchObject([{ routeId: "r", bindingId: "", outcome: "dropped" }]);
  expect(route.unbound.read()).toMatchObject({ received: 1, inFlight: 0, dispositions: { dropped: 1 } });
});

test("a message that is cancelled while its processor has no room is abandoned, and no attempt has failed", async () => {
  const asked: string[] = [];
  const processor: Processor = {
    process(envelope) {
      asked.push(envelope.id);
      return { kind: "pass", envelope };
    },
  };
  const { clock, route, process, work, lines, failed } = stage([processor]);
  for (let calls = 0; calls < 100; calls++) route.processors[0]?.strays.add();
  const ended = process.run(work, undefined);
  await clock.advance(11_000);
  expect(lines).toEqual([{ part: "processor p0", calls: 100 }]);
  work.cancel();
  expect(await ended).toMatchObject({ disposition: "abandoned", failedBindings: [] });
  await clock.advance(100);
  expect([asked, failed]).toEqual([[], []]);
  expect(route.unbound.read()).toMatchObject({ inFlight: 0, dispositions: { abandoned: 1 } });
});

test("a message that is taken back while it waits for another try of its processors is abandoned, of no binding", async () => {
  const processor: Processor = {
    process() {
      throw new BridgeError("UNAVAILABLE", "the lookup is away");
    },
  };
  const { clock, route, process, work, failed } = stage([processor]);
  const ended = process.run(work, undefined);
  await clock.advance(10);
  work.cancel();
  expect(await ended).toEqual({ disposition: "abandoned", failedBindings: [] });
  expect(failed).toEqual(["the lookup is away"]);
  expect(route.recent.legs.find("m1", 5)).toMatchObject([{ routeId: "r", bindingId: "", outcome: "abandoned" }]);
});

test("a message whose caller leaves while it waits for another try of its processors is abandoned, and not tried again", async () => {
  let there = true;
  const processor: Processor = {
    process() {
      there = false;
      throw new BridgeError("UNAVAILABLE", "the lookup is away");
    },
  };
  const { clock, route, process, workOf, failed } = stage([processor]);
  const ended = process.run(workOf({ begin: () => there }), undefined);
  await clock.advance(60_000);
  expect(await ended).toEqual({ disposition: "abandoned", failedBindings: [] });
  expect(failed).toEqual(["the lookup is away"]);
  expect(route.unbound.read()).toMatchObject({ inFlight: 0, dispositions: { abandoned: 1 } });
});
