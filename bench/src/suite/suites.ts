import type { Settings } from "./contender.ts";
import { delaySuite } from "./delay-suite.ts";
import { engineSuite } from "./engine-suite.ts";
import type { Measurement } from "./measurement.ts";
import { routeSuite } from "./route-suite.ts";

/** Everything that can be measured, by the name that `--only` knows. */
export const SUITES = {
  engine: engineSuite,
  "mqtt-mqtt": (settings) => routeSuite("mqtt-mqtt", settings),
  "mqtt-http": (settings) => routeSuite("mqtt-http", settings),
  "http-mqtt": (settings) => routeSuite("http-mqtt", settings),
  delay: delaySuite,
} as const satisfies Readonly<Record<string, (settings: Settings) => AsyncGenerator<Measurement>>>;

export type SuiteName = keyof typeof SUITES;
