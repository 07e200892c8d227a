import assert from "node:assert/strict";
import { BridgeError } from "@bridge/ports";
import type { Stage } from "./stage.ts";

/** What a case does on its stage. Rejects when the transport does not pass. */
export type Check = (stage: Stage, signal: AbortSignal) => Promise<void>;

/** For `assert.rejects`. */
export function isBridgeError(error: unknown): true {
  assert.ok(BridgeError.is(error), `it should be a BridgeError, and is: ${String(error)}`);
  return true;
}

/** For `assert.rejects`. */
export function isTransient(error: unknown): true {
  assert.ok(BridgeError.is(error), `it should be a BridgeError, and is: ${String(error)}`);
  assert.equal(error.class, "transient", `${error.code} is not transient`);
  return true;
}
