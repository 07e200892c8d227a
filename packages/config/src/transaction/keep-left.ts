import type { Clock, ConfigStore, Logger, StoredConfig } from "@bridge/ports";
import { bounded } from "./commit-parts.ts";
import type { LeftBehind } from "./left-behind.ts";
import { messageOf } from "./probation-refusals.ts";

interface Parts {
  readonly store: Pick<ConfigStore, "versions" | "probations">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Keeps what was taken back; resolves to whether nothing of it is lost when nothing else says what it was. Never
 * rejects.
 */
export async function keepLeft(
  reverted: StoredConfig | Pick<StoredConfig, "version" | "document">,
  leftStores: LeftBehind["leftStores"],
  { store, clock, logger }: Parts,
): Promise<boolean> {
  const left = leftStores.length > 0 && "revision" in reverted ? store.versions?.left : undefined;
  try {
    await bounded(clock, async (signal) =>
      left !== undefined && "revision" in reverted
        ? left.keep(reverted, leftStores, signal)
        : store.versions?.keepReverted(reverted, signal),
    );
    return true;
  } catch (error) {
    logger.warn("what was taken back is not kept to be mended", {
      config_version: reverted.version,
      error: messageOf(error),
    });
    return left === undefined;
  }
}

/** The probation is over for whoever starts next. Never rejects. */
export async function endNoted(version: number, { store, clock, logger }: Parts): Promise<void> {
  await bounded(clock, async (signal) => store.probations?.end(signal)).catch((error: unknown) => {
    logger.warn("that the probation is over is not noted", { config_version: version, error: messageOf(error) });
  });
}
