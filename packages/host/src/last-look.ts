import type { Supervisor } from "@bridge/core";
import type { Seams } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { ConfigSource } from "./config-source.ts";
import { messageOf } from "./message-of.ts";

/** On a busy machine, the thread that reads a changed file takes a second or more to start. */
const LOOK_MS = 5_000;

/**
 * Before a process ends in order: what it runs is remembered, if another hand has stored something that could leave
 * messages behind, or what is stored refers to something else, and nobody was told yet. Never rejects.
 */
export async function lastLook(
  source: Pick<ConfigSource, "glance" | "store">,
  supervisor: Pick<Supervisor, "announce">,
  { clock, logger }: Pick<Seams, "clock" | "logger">,
): Promise<void> {
  if (source.store.departures === undefined) return;
  using bound = deadline(clock, LOOK_MS, new Error(`the configuration was not read in ${LOOK_MS / 1_000} s`));
  const { signal } = bound;
  const looking = async (): Promise<void> => {
    const next = await source.glance(signal);
    if (next !== undefined) await supervisor.announce(next);
  };
  try {
    await orAborted(looking(), signal);
  } catch (error) {
    logger.warn("whether the configuration was changed just before the end is not known", { error: messageOf(error) });
  }
}
