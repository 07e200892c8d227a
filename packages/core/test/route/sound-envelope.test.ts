import { expect, test } from "vitest";
import { soundEnvelope } from "../../src/route/sound-envelope.ts";
import { envelopeOf } from "../support/envelope.ts";

test.each<[string, unknown]>([
  ["payload of the envelope is a string, not a Uint8Array", "text"],
  ["payload of the envelope is missing, not a Uint8Array", undefined],
])("an envelope without bytes is refused: %s", (message, payload) => {
  expect(() => soundEnvelope({ ...envelopeOf({}), payload })).toThrow(message);
});
