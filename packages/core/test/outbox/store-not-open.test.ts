import { expect, test } from "vitest";
import { RouteOutbox } from "../../src/outbox/route-outbox.ts";
import { Failures } from "../../src/route/failures.ts";
import { envelopeOf } from "../support/envelope.ts";
import { bound } from "../support/memory-bridge.ts";
import { runtimeOf } from "../support/runtime-of.ts";

/** The outbox of a route whose store is not open. */
function unopened(): RouteOutbox {
  const [parts] = runtimeOf({ deliveryMode: "shared_outbox" }).runtime.parts.routes.values();
  return new RouteOutbox({ parts: parts!, failures: new Failures(parts!) });
}

test("without its store nobody can tell whether a dead letter is being redriven already, and the redrive is refused", async () => {
  using outbox = unopened();
  await expect(outbox.refuseSecondRedrive("e1", bound())).rejects.toMatchObject({ kind: "unavailable" });
});

test("a store that is not open is not one that takes nothing", () => {
  using outbox = unopened();
  expect(outbox.full).toBeUndefined();
});

test.each(["record", undefined])("without its store nobody can tell how a record ended: %s", async (recordId) => {
  using outbox = unopened();
  const records = [{ bindingId: "out", disposition: "persisted", recordId }] as const;
  const outcome = { disposition: "persisted", bindingId: "", failedBindings: [], records } as const;
  const answer = await outbox.drained(envelopeOf({ id: "m1" }), outcome, undefined, bound());
  expect(answer).toMatchObject({ disposition: "abandoned" });
});
