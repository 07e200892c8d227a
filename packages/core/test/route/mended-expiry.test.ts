import { type SourceMessage, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { normalise } from "../../src/route/ingress.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("a message without a payload keeps its expiry, so that what is redriven of it is not sent after that; one that is no time is left out", () => {
  const context = { sourceId: "in", clock: new FakeClock(), random: systemRandom() };
  for (const [expiresAt, kept] of [
    [5_000, 5_000],
    ["soon", undefined],
    [Number.NaN, undefined],
  ]) {
    const message = { id: "a", subject: "s", payload: "text", expiresAt } as unknown as SourceMessage;
    const { envelope, error } = normalise(message, context);
    expect(error).toMatchObject({ code: "INVALID_PAYLOAD" });
    expect(envelope.expiresAt).toBe(kept);
  }
});
