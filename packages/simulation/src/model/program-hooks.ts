import type { BridgeHooks, HookContext } from "@bridge/core";
import type { Dice } from "../dice.ts";
import type { HookHabits } from "../plan/planned-program.ts";
import type { HookBooks, HookName } from "../run/hook-books.ts";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";

/** What stays does so long after its signal has aborted. */
const STAYS_MS = 60_000;

export interface ProgramHooksOptions {
  readonly owner: Owner;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly habits: HookHabits;
  readonly books: HookBooks;
}

/** Hooks of a program that embeds the bridge: some are slow, some throw, and some do not end. */
export function programHooks({ owner, time, dice, habits, books }: ProgramHooksOptions): BridgeHooks {
  const after = (ms: number): Promise<void> => new Promise((resolve) => time.reach(owner, time.now + ms, resolve));
  const behave = async (signal: AbortSignal, rejects: boolean): Promise<void> => {
    if (dice.chance(habits.hangs)) return aborted(signal);
    if (dice.chance(habits.stays)) return aborted(signal).then(() => after(STAYS_MS));
    await after(dice.next() * habits.latencyMs);
    if (rejects) throw new Error("the hook has a fault");
  };
  /** The same for each: it is held against what the edges know, and then it behaves as it does. */
  const hook =
    <Event>(name: HookName, look: (event: Event, signal: AbortSignal) => Promise<void> | void) =>
    (event: Event, { signal }: HookContext): unknown => {
      if (!owner.alive) return undefined;
      const ended = books.begins(name, signal);
      const seen = look(event, signal);
      if (dice.chance(habits.throws)) {
        ended(true);
        throw new Error("the hook has a fault");
      }
      const rejects = dice.chance(habits.rejects);
      const work = Promise.resolve(seen).then(() => behave(signal, rejects));
      work.then(
        () => ended(false),
        () => ended(true),
      );
      return work;
    };
  return {
    onDeadLetter: hook("onDeadLetter", (event, signal) => books.deadLetter(event, signal)),
    onAttemptFailed: hook("onAttemptFailed", (event) => books.attemptFailed(event)),
    onState: hook("onState", (event) => books.state(event)),
    onProgress: hook("onProgress", (event) => books.progress(event)),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
