import { CONTENDERS, type Settings } from "./contender.ts";
import { alternate, type Measurement } from "./measurement.ts";
import { type RouteName, runRoute } from "./route-run.ts";

const MESSAGES: Readonly<Record<RouteName, number>> = { "mqtt-mqtt": 40_000, "mqtt-http": 25_000, "http-mqtt": 25_000 };
const WARM_UP = 5_000;
const PACED_SECONDS = 3;

/** One pair of transports, at each size and window. */
export async function* routeSuite(route: RouteName, settings: Settings): AsyncGenerator<Measurement> {
  const { sizes, windows, rounds, profileDir } = settings;
  const messages = settings.messages ?? MESSAGES[route];
  for (const size of sizes) {
    for (const window of windows) {
      const runs = await alternate(rounds, CONTENDERS, (contender) =>
        runRoute({
          route,
          contender,
          size,
          window,
          messages,
          profileDir,
          warmUp: Math.min(WARM_UP, messages),
          pacedSeconds: PACED_SECONDS,
        }),
      );
      yield { suite: route, name: `${size} B, window ${window}`, runs };
    }
  }
}
