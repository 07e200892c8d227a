import { expect, test } from "vitest";
import { soundPayload } from "../../src/route/sound-payload.ts";

test("bytes in memory of their own are kept as they are, also when there are none", () => {
  for (const payload of [new Uint8Array([1, 2]), new Uint8Array()]) expect(soundPayload(payload)).toBe(payload);
});

test("what was given away is no payload, and nothing is kept that could be", () => {
  const payload = new Uint8Array([1, 2]);
  structuredClone(payload.buffer, { transfer: [payload.buffer] });
  expect(soundPayload(payload)).toBeUndefined();
});

test("what others may change is copied", () => {
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  const resizable = new Uint8Array(new ArrayBuffer(2, { maxByteLength: 8 }));
  for (const payload of [shared, resizable]) {
    payload.set([1, 2]);
    const kept = soundPayload(payload);
    payload.fill(9);
    expect(kept).toEqual(new Uint8Array([1, 2]));
  }
});
