import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { Cancelled } from "../../src/route/send-guards.ts";
import { endSend, sendOutcome } from "../../src/route/send-outcome.ts";
import { envelopeOf } from "../support/envelope.ts";
import { RecordingTracer } from "../support/recording-tracer.ts";

const failure = new BridgeError("REJECTED", "no");

test.each([
  ["was accepted", undefined, { kind: "accepted" }],
  ["was cancelled", new Cancelled("stopped"), { kind: "cancelled" }],
  ["failed", failure, { kind: "failed", error: failure }],
] as const)(
  "a send that %s is told so, to whoever let it through and to whoever looks at its trace",
  (_, thrown, told) => {
    expect(sendOutcome(thrown)).toEqual(told);
    const tracer = new RecordingTracer();
    const route = tracer.route({ routeId: "r", receiverId: "in", sessionId: undefined, system: "memory" });
    const span = route.deliver({ envelope: envelopeOf(), origin: "received", receiveCount: undefined });
    endSend(span, thrown);
    expect(tracer.spans[0]?.ends).toEqual([{ outcome: told.kind, error: thrown === failure ? failure : undefined }]);
  },
);

test("what nobody has classified is a failure as any other, and a send without a trace ends nowhere", () => {
  expect(sendOutcome(new TypeError("rude"))).toMatchObject({ kind: "failed", error: { code: "INTERNAL" } });
  expect(() => endSend(undefined, failure)).not.toThrow();
});
