import type { ErrorCode } from "@bridge/ports";

/**
 * Why a message was refused inside the thread. Plain, because nothing but data crosses to the other side, where it
 * becomes a `BridgeError`. Its message never holds a value of the payload or of a header.
 */
export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
