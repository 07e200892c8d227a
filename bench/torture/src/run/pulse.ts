import { setTimeout as sleep } from "node:timers/promises";
import type { Stage } from "./stage.ts";

const BEAT_MS = 200;
/** A bridge that has not answered for so long does not get its turn. */
const LATE_MS = 300;

export interface PulseOptions extends Pick<Stage, "auditor"> {
  readonly api: Pick<Stage["api"], "alive">;
}

/**
 * Asks the bridge for a sign of life again and again until `signal` aborts, and tells the auditor while there is none: on a
 * busy machine a process may wait for seconds before it can read what it was told. Between two processes there is none either.
 */
export async function feelPulse({ api, auditor }: PulseOptions, signal: AbortSignal): Promise<void> {
  let starved = false;
  const tell = async (on: boolean): Promise<void> => {
    if (starved === on) return;
    starved = on;
    // The auditor does not answer any more once the stage is taken down.
    await auditor.hinder("starved", on).catch(() => {});
  };
  while (!signal.aborted) {
    const late = setTimeout(() => void tell(true), LATE_MS);
    const alive = await api.alive();
    clearTimeout(late);
    if (signal.aborted) break;
    await tell(!alive);
    await sleep(BEAT_MS, undefined, { signal }).catch(() => {});
  }
  await tell(false);
}
