import type { SourceMessage } from "@bridge/ports";

/** A message with a few headers and without an id, so that the bridge has to normalise the ones and to mint the other. */
export function sampleMessage(size: number, traceparent?: string): SourceMessage {
  return {
    subject: "plant/7/temperature",
    contentType: "application/octet-stream",
    headers: { Device: "boiler-3", Unit: "celsius", ...(traceparent !== undefined && { traceparent }) },
    payload: new Uint8Array(size).fill(0x61),
  };
}
