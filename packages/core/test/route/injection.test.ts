import { BridgeError } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { DrainedOutcome } from "../../src/outbox/route-outbox.ts";
import { resultOf } from "../../src/route/injection.ts";
import { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { RecordingTracer } from "../support/recording-tracer.ts";

const never = new AbortController().signal;
const enough = AbortSignal.abort(new Error("enough"));

function workOf({ handedOut = false, tracer }: { handedOut?: boolean; tracer?: RecordingTracer } = {}): Work {
  const envelope = envelopeOf();
  const delivery = { message: envelope, settle: () => {} };
  const route = tracer?.route({ routeId: "r", receiverId: "in", sessionId: undefined, system: "memory" });
  const span = route?.deliver({ envelope, origin: "injected", receiveCount: undefined });
  return Object.assign(new Work({ delivery, envelope, origin: "injected", startedAt: 0, span }), { handedOut });
}

describe("who injects a message", () => {
  test.each(["delivered", "dropped", "filtered", "expired", "dead_lettered", "duplicate"] as const)(
    "is told that it was %s, and nothing of what there is nothing to tell of",
    (disposition) => {
      const outcome = { disposition, failedBindings: ["a"] };
      const plain = { envelopeId: "m1", outcome: disposition, failedBindings: ["a"] };
      for (const signal of [never, enough]) expect(resultOf(workOf(), outcome, signal)).toStrictEqual(plain);
      const more = { error: new BridgeError("REJECTED", "no"), warning: "slow", entryMayBeGone: false };
      const tracer = new RecordingTracer();
      expect(resultOf(workOf({ tracer }), { ...outcome, ...more }, never)).toStrictEqual({
        ...plain,
        ...more,
        trace: tracer.spans[0]?.context,
      });
    },
  );

  test.each(["abandoned", "released", "persisted"] as const)(
    "and whose message is %s when the bridge stops hears whether any of it may be with a target, and its own reason if it had one",
    (disposition) => {
      const outcome: DrainedOutcome = { disposition, failedBindings: [] };
      const askedOf = (handedOut: boolean, signal: AbortSignal) => () =>
        resultOf(workOf({ handedOut }), outcome, signal);
      for (const signal of [never, enough]) {
        expect(askedOf(false, signal)).toThrow("given up before anything was sent: nothing became of it");
      }
      expect(askedOf(true, never)).toThrow("given up after it had been sent: the bridge was stopped");
      expect(askedOf(true, enough)).toThrow("enough");
    },
  );
});
