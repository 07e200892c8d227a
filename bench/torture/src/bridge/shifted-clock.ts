/**
 * Loaded before the bridge: its wall clock can be moved from outside, as an administrator or a time server moves that of a
 * machine. The monotonic clock is left alone, as it is there. @module
 */

import { type ClockOffset, OFFSET_VARIABLE } from "./offset.ts";

// oxlint-disable-next-line node/no-process-env -- there is no other way to tell a program that knows nothing of this
let offset: ClockOffset = Number(process.env[OFFSET_VARIABLE] ?? 0);

const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...fields: readonly unknown[]) {
    if (fields.length === 0) super(ShiftedDate.now());
    else super(...(fields as [number]));
  }

  static override now(): number {
    return RealDate.now() + offset;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;

process.on("message", (next: ClockOffset) => (offset = next));
// Nothing outlives the torture, however it ends.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.channel?.unref();
