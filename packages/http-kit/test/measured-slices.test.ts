import { ManualClock } from "@bridge/tooling/manual-clock";
import { expect, it } from "vitest";
import { MeasuredSlices } from "../src/measured-slices.ts";

/** On which a test says how long something took, and how much processor time the process used in it. */
class Machine extends ManualClock {
  tookMs = 0;
  usedMs = 0;

  override monotonic(): number {
    return this.tookMs;
  }

  override turn(run: () => void): void {
    this.works(100, 100);
    queueMicrotask(run);
  }

  works(tookMs: number, usedMs: number): void {
    this.tookMs += tookMs;
    this.usedMs += usedMs;
  }
}

class TellingMachine extends Machine {
  cpu(): number {
    return this.usedMs;
  }
}

it("what slices have used is neither what the machine did meanwhile, nor more than they took", async () => {
  const machine = new TellingMachine();
  const slices = new MeasuredSlices(machine, 0.1);
  machine.works(12, 0.5);
  expect(slices.use).toEqual({ usedMs: 0.5, tookMs: 12 });
  await slices.next();
  machine.works(1, 3);
  expect(slices.use).toEqual({ usedMs: 1.5, tookMs: 13 });
  await slices.next();
  expect(slices.use).toEqual({ usedMs: 1.5, tookMs: 13 });
});

it("on a clock that does not tell the processor time they have used all that they took", async () => {
  const machine = new Machine();
  const slices = new MeasuredSlices(machine, 0.1);
  machine.works(12, 0.5);
  await slices.next();
  machine.works(3, 0);
  expect(slices.use).toEqual({ usedMs: 15, tookMs: 15 });
});
