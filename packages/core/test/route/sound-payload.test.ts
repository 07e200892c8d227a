import { expect, test } from "vitest";
import { bytesIn, soundPayload } from "../../src/route/sound-payload.ts";

test("bytes in memory of their own are kept as they are, also when there are none", () => {
  for (const payload of [new Uint8Array([1, 2]), new Uint8Array(), Buffer.from([1, 2])]) {
    expect(soundPayload(payload)).toBe(payload);
  }
});

test("what was given away is no payload, and nothing is kept that could be", () => {
  for (const payload of [new Uint8Array([1, 2]), new (class extends Uint8Array {})([1, 2])]) {
    structuredClone(payload.buffer, { transfer: [payload.buffer] });
    expect(soundPayload(payload)).toBeUndefined();
  }
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

test("of what is no payload the bytes are copied that there are, so that a dead letter can show them", () => {
  const { buffer } = new Uint8Array([1, 2, 3, 4]);
  const [whole, part] = [bytesIn(buffer), bytesIn(new DataView(buffer, 1, 2))];
  new Uint8Array(buffer).fill(9);
  expect([whole, part]).toEqual([new Uint8Array([1, 2, 3, 4]), new Uint8Array([2, 3])]);
  expect(bytesIn("é")).toEqual(Buffer.from([0xc3, 0xa9]));
});

test("what has no bytes, or has given them away, has none", () => {
  const given = new Uint16Array([1, 2]);
  structuredClone(given.buffer, { transfer: [given.buffer] });
  const like = { buffer: new ArrayBuffer(2), byteOffset: 0, byteLength: 2 };
  for (const value of [undefined, null, 5, {}, like, given, given.buffer])
    expect(bytesIn(value)).toEqual(new Uint8Array());
});
