/** Loaded before a program: its time of day jumps an hour ahead, a while after it has started. @module */
const HOUR_MS = 3_600_000;
const AFTER_MS = 6_000;
const { now } = Date;
const startedAt = now();
const shifted = (): number => now() + (now() - startedAt > AFTER_MS ? HOUR_MS : 0);

class JumpingDate extends Date {
  static override now(): number {
    return shifted();
  }

  constructor(...parts: [] | [value: number | string | Date]) {
    if (parts.length === 0) super(shifted());
    else super(...parts);
  }
}

globalThis.Date = JumpingDate as DateConstructor;
