import { type BridgeConfig, emptyConfig, keptLeftovers, namedStores, settleProbation } from "@bridge/config";
import { Veils } from "@bridge/core";
import { type ConfigStore, type Seams, type StoredConfig, systemClock, systemRandom } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { ConfigSource } from "./config-source.ts";
import { configuration } from "./configuration.ts";
import { departureNoticeOf } from "./departure-notice.ts";
import { watchDescriptors } from "./descriptor-watch.ts";
import type { Ending } from "./exit-codes.ts";
import { formerConfiguration, leaveFormer } from "./former-configuration.ts";
import { openLog } from "./log.ts";
import { messageOf } from "./message-of.ts";
import { notStarted } from "./not-started.ts";
import { serveConfigured, type Serving } from "./serve-configured.ts";
import type { ServeOptions } from "./serve-options.ts";
import { watchProcess } from "./watch-process.ts";

const STORE_CLOSE_MS = 1_000;

/** Runs a bridge until something ends it. Never rejects: what goes wrong is logged. */
export async function serveBridge(serving: ServeOptions): Promise<Ending> {
  const { registry, host, startEmpty, prepare } = serving;
  const veils = new Veils();
  const logger = openLog(host.stderr, "info", veils.over);
  using watch = watchProcess(host, () => logger);
  const { ending } = watch;
  let inForce = emptyConfig();
  const onConfig = (config: BridgeConfig): void => {
    inForce = config;
    veils.remember(config.veils);
    logger.setLevel(config.bridge.logLevel);
  };
  const seams: Seams = { clock: systemClock, random: systemRandom(), logger };
  using descriptors = watchDescriptors(seams);
  try {
    const prepared = (async () => prepare({ ...seams, watch: () => inForce.configWatch }))();
    const parts = await orAborted(prepared, ending);
    try {
      const source = new ConfigSource({ ...parts, ...seams, registry });
      const options = { startEmpty, overrule: parts.overrule };
      const read = (instead?: StoredConfig) => configuration(source, { ...options, instead }, logger, ending);
      const { store, sources } = parts.origin;
      const settling = { ...seams, storesOf: namedStores({ registry, sources, ...seams }) };
      const begun = await orAborted(settleProbation(store, settling, read), ending);
      const { settled, configuration: stored } = begun;
      if (stored === undefined) return "not_started";
      const leftBehind = await orAborted(keptLeftovers({ store, ...settling }), ending);
      const onNext = (next: BridgeConfig): void => {
        onConfig(next);
        parts.onHttp?.(next.http);
      };
      const first = { source, registry, stored, settled: settled !== undefined };
      const found = await orAborted(formerConfiguration(first, seams, ending), ending);
      using departureNotice = departureNoticeOf(found, store, () => inForce, seams);
      let left = found !== undefined && ("unread" in found || "elsewhere" in found) ? undefined : found;
      const serve = async (config: BridgeConfig, former?: Pick<Serving, "next" | "left">): Promise<Ending> => {
        onConfig(config);
        const keysInForce = parts.keys(config.http);
        const given = { source, config, settled, leftBehind, departureNotice, onConfig: onNext, keysInForce, watch };
        return serveConfigured({ ...serving, ...parts, ...given, ...former, veils, seams });
      };
      if (left !== undefined && "config" in left) {
        const { former, config } = left;
        logger.warn("the process before ended while stores were being left: the former configuration runs first", {
          config_version: config.configVersion,
          ...(stored.stored !== undefined && { stored_version: stored.configVersion }),
        });
        try {
          return await serve(config, { next: stored });
        } catch (error) {
          if (error === ending.reason) throw error;
          left = { former, why: veils.over(messageOf(error)) };
        }
      }
      if (stored.stored === undefined)
        logger.warn("no configuration: starting empty; it is taken when it appears", { source: store.source });
      return await serve(stored, { left: left && (await leaveFormer(left, stored, store, settling)) });
    } finally {
      await closeStore(parts.origin.store, seams);
    }
  } catch (error) {
    if (error !== ending.reason) return notStarted(error, logger);
    logger.info("asked to end before the start", { signal: await watch.asked });
    return "stopped";
  } finally {
    // A start that fails for want of one is over before the first look.
    descriptors.look();
  }
}

/** Nobody asks it any more. Never rejects, and waits for no more than a moment. */
async function closeStore(store: ConfigStore, { clock, logger }: Seams): Promise<void> {
  using bound = deadline(clock, STORE_CLOSE_MS, new Error(`not closed in ${STORE_CLOSE_MS} ms`));
  try {
    await orAborted(Promise.resolve(store[Symbol.asyncDispose]()), bound.signal);
  } catch (error) {
    logger.warn("the store of the configuration is not closed", { error: messageOf(error) });
  }
}
