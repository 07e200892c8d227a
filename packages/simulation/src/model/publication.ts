import type { SourceMessage } from "@bridge/ports";
import type { PlannedMessage } from "../plan/plan.ts";

/** The first moment of 2026: when a run begins, as clocks that are right have it. */
export const EPOCH = 1_767_225_600_000;

/** What a source hands out. */
export function publication({ number, id = `m-${number}`, key, form, expiresAt }: PlannedMessage): SourceMessage {
  return {
    id,
    subject: "simulated",
    payload: formed(new TextEncoder().encode(String(number)), form) as Uint8Array,
    ...(key !== undefined && { orderingKey: `key ${key}` }),
    ...(expiresAt !== undefined && { expiresAt: EPOCH + expiresAt }),
  };
}

function formed(bytes: Uint8Array, form: PlannedMessage["form"]): unknown {
  switch (form) {
    case undefined:
      return bytes;
    case "text":
      return new TextDecoder().decode(bytes);
    case "buffer":
      return bytes.buffer;
    case "shared":
      return copied(bytes, new SharedArrayBuffer(bytes.length));
    case "resizable":
      return copied(bytes, new ArrayBuffer(bytes.length, { maxByteLength: 2 * bytes.length }));
  }
}

function copied(bytes: Uint8Array, buffer: ArrayBufferLike): Uint8Array {
  const copy = new Uint8Array(buffer);
  copy.set(bytes);
  return copy;
}

/** Whether it is no payload, so that a target never gets it. */
export function isUnsound({ form }: PlannedMessage): boolean {
  return form === "text" || form === "buffer";
}
