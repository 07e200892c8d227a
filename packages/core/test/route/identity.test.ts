import { RESERVED } from "@bridge/ports";
import { expect, test } from "vitest";
import { deadLetterId, orderingKey, stableIdentity } from "../../src/route/identity.ts";
import { envelopeOf } from "../support/envelope.ts";

test("spec 1.3: a redelivery is known by its deduplication id, else by the id of its source; a minted id is none", () => {
  const headers = { [RESERVED.dedupId]: "d", [RESERVED.generatedId]: "true" };
  expect(stableIdentity(envelopeOf({ id: "m" }))).toBe("m");
  expect(stableIdentity(envelopeOf({ id: "m", headers }))).toBe("d");
  expect(stableIdentity(envelopeOf({ id: "m", headers: { [RESERVED.generatedId]: "true" } }))).toBeUndefined();
  expect(orderingKey(envelopeOf({ headers: { [RESERVED.orderingKey]: "k" } }))).toBe("k");
  expect(orderingKey(envelopeOf())).toBeUndefined();
});

test("contract §2: one failure of one message at one binding has one entry id, and any other has another one", () => {
  const id = deadLetterId("r", "out", envelopeOf());
  expect(id).toMatch(/^[\da-f]{64}$/u);
  expect(deadLetterId("r", "out", envelopeOf({ receivedAt: 5, subject: "other" }))).toBe(id);
  const others = [
    deadLetterId("q", "out", envelopeOf()),
    deadLetterId("r", "out2", envelopeOf()),
    deadLetterId("r", "out", envelopeOf({ id: "m2" })),
    deadLetterId("r", "out", envelopeOf({ sourceId: "in2" })),
    deadLetterId("r", "out", envelopeOf({ payload: new Uint8Array([1]) })),
  ];
  expect(new Set([id, ...others]).size).toBe(6);
});
