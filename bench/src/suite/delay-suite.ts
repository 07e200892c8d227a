import { tcpProxy } from "@bridge/conformance/tcp-proxy";
import { CONTENDERS, type Settings } from "./contender.ts";
import { alternate, type Measurement } from "./measurement.ts";
import { runRoute } from "./route-run.ts";

const ROUND_TRIP_MS = 20;
const SIZE = 256;
/** Window, and how many messages show its pace within a few seconds. */
const ROWS = [
  { window: 1, messages: 100, warmUp: 20 },
  { window: 256, messages: 40_000, warmUp: 5_000 },
] as const;

/** MQTT to MQTT with a slow link to the source: what is held must not be one message at a time. */
export async function* delaySuite(settings: Settings): AsyncGenerator<Measurement> {
  for (const row of ROWS) {
    const runs = await alternate(settings.rounds, CONTENDERS, (contender) =>
      runRoute({
        route: "mqtt-mqtt",
        contender,
        size: SIZE,
        window: row.window,
        warmUp: row.warmUp,
        pacedSeconds: 0,
        messages: Math.min(settings.messages ?? row.messages, row.messages),
        profileDir: settings.profileDir,
        link: slowLink,
      }),
    );
    yield { suite: "delay", name: `window ${row.window}`, runs };
  }
}

async function slowLink(port: number): Promise<AsyncDisposable & { readonly port: number }> {
  const proxy = await tcpProxy({ target: { port } });
  proxy.delay(ROUND_TRIP_MS / 2);
  return proxy;
}
