import { expect } from "vitest";
import type { Binary } from "./binary.ts";

/**
 * A start whose store is refused ends with 1. One that has not heard why after two seconds, on a busy machine, goes on without the
 * store and says so as soon as it knows: that is no fault either. In both cases the log has the reason by then.
 */
export async function refusedStart(bridge: Binary): Promise<void> {
  const started = bridge.logged("bridge started").then(
    () => "started" as const,
    () => bridge.ended,
  );
  const end = await Promise.race([bridge.ended, started]);
  if (end !== "started") return expect(end).toBe(1);
  await bridge.logged("store not open: tried again, and what needs it waits");
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
}
