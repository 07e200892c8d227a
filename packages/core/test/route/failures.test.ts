import type { Delivery } from "@bridge/ports";
import { expect, test } from "vitest";
import { partKey } from "../../src/change/part-graph.ts";
import { Failures } from "../../src/route/failures.ts";
import { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { outage, refusal } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

function stage() {
  const { bridge, parts } = partsOf({ policy: { onPermanentFailure: "drop" } });
  const route = parts.routes.get(partKey.route("r"));
  if (route === undefined) throw new Error("the bridge has no route");
  const envelope = envelopeOf();
  const delivery: Delivery = { message: envelope, settle: () => {} };
  const work = new Work({ delivery, envelope, origin: "received", startedAt: bridge.clock.monotonic() });
  return { clock: bridge.clock, work, failures: new Failures(route) };
}

test("what is final ends by the policy; what would be tried again is never taken for an end", async () => {
  const { clock, work, failures } = stage();
  expect(await failures.end(work, "out", refusal)).toEqual({
    disposition: "dropped",
    error: refusal,
    bindingId: "out",
  });
  const [ended] = await Promise.all([
    failures.end(work, "out", outage).catch((error: unknown) => error),
    clock.advance(60_000),
  ]);
  expect(ended).toEqual(new Error("UNAVAILABLE ends no message: it is tried again"));
});

test("what is cancelled is abandoned, whatever it has failed with", async () => {
  const { work, failures } = stage();
  work.cancel();
  for (const error of [refusal, outage]) {
    expect(await failures.end(work, "out", error)).toEqual({ disposition: "abandoned", bindingId: "out" });
  }
});
