import { createAuditor } from "@bridge/audit";
import type { Supervisor } from "@bridge/core";
import { createAdminApp } from "@bridge/http-admin";
import { listen } from "@bridge/http-kit";
import { createMonitorApp } from "@bridge/http-monitor";
import { type Logger, systemClock, systemRandom } from "@bridge/ports";
import type { Places } from "./places.ts";

const BIND_TIMEOUT_MS = 10_000;

/** Opens the two servers of a bridge in code, which the torture asks as it asks those of the binary. */
export async function serveBridge(bridge: Supervisor, places: Places, logger: Logger): Promise<AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const seams = { clock: systemClock, logger, random: systemRandom() };
  const auditor = opened.use(createAuditor({ ...seams, sinks: [] }));
  const apps = { ...seams, auditor, supervisor: () => bridge, keys: { adminApiKeys: { torture: places.adminKey } } };
  const signal = AbortSignal.timeout(BIND_TIMEOUT_MS);
  for (const [addr, app] of [
    [places.adminAddr, createAdminApp(apps)],
    [places.monitorAddr, createMonitorApp(apps)],
  ] as const)
    opened.use(await listen({ ...seams, addr, app }, signal));
  return opened.move();
}
