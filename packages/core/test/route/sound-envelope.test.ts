import { expect, test } from "vitest";
import { soundEnvelope } from "../../src/route/sound-envelope.ts";
import { envelopeOf } from "../support/envelope.ts";

test("an envelope that is sound is kept with all that it has, and its headers in lower case", () => {
  const headers = { Device: "7", "x-a": "1" };
  const sound = soundEnvelope(envelopeOf({ headers, receivedAt: 5, expiresAt: 9 }));
  expect(sound).toEqual(envelopeOf({ headers: { device: "7", "x-a": "1" }, receivedAt: 5, expiresAt: 9 }));
  expect(soundEnvelope(envelopeOf())).not.toHaveProperty("expiresAt");
});

test.each<[string, object]>([
  ["receivedAt of the envelope is no time in epoch milliseconds", { receivedAt: "now" }],
  ["receivedAt of the envelope is no time in epoch milliseconds", { receivedAt: Number.NaN }],
  ["expiresAt of the envelope is no time in epoch milliseconds", { expiresAt: new Date(0) }],
  ["expiresAt of the envelope is no time in epoch milliseconds", { expiresAt: 8.65e15 }],
  ["headers of the envelope are no plain object of texts", { headers: undefined }],
  ["headers of the envelope are no plain object of texts", { headers: new Map([["device", "7"]]) }],
  ['header "device" of the envelope is a number, not text', { headers: { device: 7 } }],
  ['header "device" of the envelope is missing, not text', { headers: { device: undefined } }],
])("what is not as its type says is refused by its name: %s", (message, changes) => {
  expect(() => soundEnvelope({ ...envelopeOf(), ...changes })).toThrow(new Error(message));
});

test("of the name of a header that is refused the beginning is told", () => {
  const headers = { ["n".repeat(10_000)]: 7 };
  expect(() => soundEnvelope({ ...envelopeOf(), headers })).toThrow(
    new Error(`header "${"n".repeat(100)}" of the envelope is a number, not text`),
  );
});

test.each<[string, unknown]>([
  ["payload of the envelope is a string, not a Uint8Array", "text"],
  ["payload of the envelope is missing, not a Uint8Array", undefined],
])("an envelope without bytes is refused: %s", (message, payload) => {
  expect(() => soundEnvelope({ ...envelopeOf({}), payload })).toThrow(message);
});
