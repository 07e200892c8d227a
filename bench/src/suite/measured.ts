import type { Child } from "../harness/child.ts";
import type { Run } from "./measurement.ts";

const TIMEOUT_MS = 180_000;

/** Has a program carry so many messages; its own figures, if it answers with some, come on top. */
export async function measured(child: Child, question: string, argument: unknown, messages: number): Promise<Run> {
  const before = await child.usage();
  const begin = performance.now();
  const own = await child.ask<Run | undefined>(question, argument, TIMEOUT_MS);
  const elapsedMs = performance.now() - begin;
  const after = await child.usage();
  const cpuMs = after.cpuMs - before.cpuMs;
  return {
    perSecond: (messages / elapsedMs) * 1_000,
    cpuMicros: (cpuMs / messages) * 1_000,
    /** The share of a core that it used: far below 1, something else set the pace. */
    busy: cpuMs / elapsedMs,
    rssMb: after.peakRssBytes / 2 ** 20,
    ...own,
  };
}
