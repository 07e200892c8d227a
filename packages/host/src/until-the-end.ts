import type { Clock, Seams } from "@bridge/ports";
import type { Ending } from "./exit-codes.ts";
import { type Opened, shutDown } from "./shut-down.ts";

/** Waits for what ends a bridge, a signal or its own terminal state, and ends it (spec 3.1, 3.4; contract §7). */
export async function untilTheEnd(
  opened: Opened,
  asked: Promise<NodeJS.Signals>,
  seams: Pick<Seams, "clock" | "logger">,
): Promise<Ending> {
  const { clock, logger } = seams;
  const { supervisor } = opened;
  const first = await Promise.race([asked, supervisor.terminated]);
  if (typeof first === "string") {
    logger.info("shutting down", { signal: first });
    return (await shutDown(opened, seams)) ? "stopped" : "not_stopped";
  }
  logger.error("the bridge is beyond recovery: a new process has to take over", {
    cause: first.cause,
    error: first.error.message,
  });
  // Without its lease, the sooner this process is gone the better.
  if (first.cause === "lease_lost") return "terminal";
  await linger(clock, supervisor.config().bridge.terminalLingerMs, asked);
  await shutDown(opened, seams, "failed");
  return "terminal";
}

/** Whoever probes this process gets the time to see why it will end; whoever asked for the end need not wait. */
async function linger(clock: Clock, ms: number, asked: Promise<unknown>): Promise<void> {
  const cut = new AbortController();
  await Promise.race([clock.delay(ms, cut.signal).catch(() => {}), asked]);
  cut.abort();
}
