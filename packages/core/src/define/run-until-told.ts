import process from "node:process";
import { type Clock, systemClock } from "@bridge/ports";
import type { Supervisor } from "../supervisor/contract.ts";
import { whenAborted } from "../when-aborted.ts";
import type { Bound } from "./shared-start.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Starts a bridge and shuts it down when the process or `signal` says so, or waits for that when the program does it; rejects
 * when it is beyond recovery before.
 */
export async function runUntilTold(
  start: (signal: AbortSignal, bound: Bound) => Promise<Supervisor>,
  signal: AbortSignal | undefined,
  clock: Clock = systemClock,
): Promise<void> {
  const told = new AbortController();
  const tell = (name: string): void => {
    // The next one is for the platform, which ends the process.
    for (const each of SIGNALS) process.removeListener(each, tell);
    told.abort(new Error(`the process was told to end by ${name}`));
  };
  for (const each of SIGNALS) process.on(each, tell);
  // Nothing else might keep a process alive whose sources are in its own code.
  using _ = clock.after(Infinity, () => {});
  const end = signal === undefined ? told.signal : AbortSignal.any([told.signal, signal]);
  let giveUp: ((reason: unknown) => void) | undefined;
  // At once, and not in a later turn: a start that is called after the end begins anew.
  const ends = (): void => giveUp?.(end.reason);
  end.addEventListener("abort", ends, { once: true });
  try {
    const supervisor = await start(end, (give) => {
      giveUp = give;
    });
    const over = await Promise.race([supervisor.terminated, whenAborted(end), whenAborted(supervisor.ending)]);
    await supervisor.shutdown();
    if (over !== undefined) throw over.error;
  } catch (error) {
    if (!end.aborted || error !== end.reason) throw error;
  } finally {
    end.removeEventListener("abort", ends);
    for (const each of SIGNALS) process.removeListener(each, tell);
  }
}
