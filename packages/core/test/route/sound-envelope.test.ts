import { BridgeError, type Envelope, RESERVED } from "@bridge/ports";
import { expect, test } from "vitest";
import { INGRESS_LIMITS } from "../../src/route/ingress.ts";
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

test.each<[string, unknown]>([
  ["the envelope is null", null],
  ["the envelope is missing", undefined],
  ["the envelope is a string", "text"],
  ["the envelope is a function", () => {}],
])("what is no envelope at all is refused: %s", (message, value) => {
  expect(() => soundEnvelope(value)).toThrow(new Error(message));
});

test.each(["id", "sourceId", "subject", "contentType", "correlationId"])("text is refused that is none: %s", (name) => {
  expect(() => soundEnvelope({ ...envelopeOf(), [name]: 5 })).toThrow(
    new Error(`${name} of the envelope is a number, not text`),
  );
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

const OWN = Object.values(RESERVED);
const { idLength, subjectLength, contentTypeLength, headers: most, headerSize } = INGRESS_LIMITS;
const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}`, ""]));
const wide = (size: number) => ({ a: "v".repeat(size - 1) });
const wideMost = headerSize + OWN.join("").length + OWN.length * idLength;

test.each<[string, (more: number) => Partial<Envelope>]>([
  [`id of the envelope is above the limit of ${idLength}`, (more) => ({ id: "x".repeat(idLength + more) })],
  [
    `correlationId of the envelope is above the limit of ${idLength}`,
    (more) => ({ correlationId: "x".repeat(idLength + more) }),
  ],
  [
    `subject of the envelope is above the limit of ${subjectLength}`,
    (more) => ({ subject: "x".repeat(subjectLength + more) }),
  ],
  [
    `contentType of the envelope is above the limit of ${contentTypeLength}`,
    (more) => ({ contentType: "x".repeat(contentTypeLength + more) }),
  ],
  [
    `the number of headers of the envelope is above the limit of ${most + OWN.length}`,
    (more) => ({ headers: named(most + OWN.length + more) }),
  ],
  [
    `the size of all headers of the envelope is above the limit of ${wideMost}`,
    (more) => ({ headers: wide(wideMost + more) }),
  ],
])("what may come in, and what the bridge puts beside it, is the limit: %s", (message, changes) => {
  expect(soundEnvelope(envelopeOf(changes(0)))).toMatchObject(changes(0));
  expect(() => soundEnvelope(envelopeOf(changes(1)))).toThrow(new Error(message));
});

test("all texts with half a character are named, those of headers by their names", () => {
  const half = "\ud83d";
  expect(() =>
    soundEnvelope(envelopeOf({ subject: half, headers: { [half]: "whole", half, whole: "whole" } })),
  ).toThrow(
    new BridgeError(
      "INVALID_PAYLOAD",
      String.raw`half a character (a lone surrogate) stands in subject, header "\ud83d", header "half" of the message, which UTF-8 cannot say`,
    ),
  );
});
