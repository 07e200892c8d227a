import type { SourceMessage } from "@bridge/ports";
import type { Plan, PlannedMessage } from "../plan/plan.ts";
import { dressed, isNoDress } from "./dressed.ts";

/** The first moment of 2026: when a run begins, by accurate clocks. */
export const EPOCH = 1_767_225_600_000;

/** What a source hands out. */
export function publication(message: PlannedMessage): SourceMessage {
  const { number, id = `m-${number}`, key, form, expiresAt, dress } = message;
  return {
    id,
    subject: "simulated",
    ...dressed(dress),
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

/** Whether it is not a message, or cannot be sent, so that a target never gets it. */
export function isUnsound(message: PlannedMessage, looksAt: Plan["looksAt"]): boolean {
  const { form, dress } = message;
  return form === "text" || form === "buffer" || isNoDress(dress) || hasNoTarget(message, looksAt);
}

/** Whether it lacks the header that an address or a resolver needs. */
export function hasNoTarget({ dress = "bare", inject }: PlannedMessage, looksAt: Plan["looksAt"]): boolean {
  return looksAt !== undefined && inject === undefined && dress === "bare";
}
