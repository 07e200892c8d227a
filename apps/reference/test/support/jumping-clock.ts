/** Loaded before a program: its time of day jumps, an hour ahead and an hour behind, several times a second. @module */
const HOUR_MS = 3_600_000;
const { now } = Date;
const shifted = (): number => now() + (Math.floor(now() / 150) % 2 === 0 ? HOUR_MS : -HOUR_MS);

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
