import { expect, test } from "vitest";
import type { OutboxRecord } from "../../src/index.ts";
import { recordSeal } from "../../src/internal.ts";

const payload = Buffer.from("payload");
const content = { envelope: "[]", received: null, payload, receivedPayload: null };
const record: OutboxRecord = {
  id: "id",
  routeId: "route",
  bindingId: "binding",
  address: "address",
  payloadDigest: "digest",
  orderingKey: "key",
  entryId: "entry",
  createdAt: 1,
  envelope: {
    id: "message",
    sourceId: "in",
    subject: "",
    contentType: "",
    headers: {},
    payload,
    correlationId: "message",
    receivedAt: 1,
  },
};

test.each(["id", "routeId", "bindingId", "address", "payloadDigest", "orderingKey", "entryId"] as const)(
  "the seal of a record is another when its %s is, and the same when half a surrogate pair in it was stored",
  (field) => {
    const odd = { ...record, [field]: "a\ud800b" };
    const stored = { ...record, [field]: Buffer.from("a\ud800b").toString() };
    expect(recordSeal(odd, content)).toEqual(recordSeal(stored, content));
    expect(recordSeal(odd, content)).not.toEqual(recordSeal(record, content));
  },
);

test.each([{ envelope: "{}" }, { received: "[]" }, { payload: Buffer.from("payloae") }, { receivedPayload: payload }])(
  "the seal of a record is another when its content is: %o",
  (changed) => {
    expect(recordSeal(record, { ...content, ...changed })).not.toEqual(recordSeal(record, content));
  },
);
