import { openFileOutbox } from "@bridge/file";
import { type OutboxStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";

export function openOutbox(path: string): OutboxStore {
  return openFileOutbox({
    path,
    retentionMs: 3_600_000,
    onCorrupt: "refuse",
    clock: systemClock,
    random: systemRandom(),
    logger: silentLogger,
  });
}
