import type { Settings } from "./contender.ts";
import { dlqSuite } from "./dlq-suite.ts";
import { engineSuite } from "./engine-suite.ts";
import { functionsSuite } from "./functions-suite.ts";
import { lookingSuite } from "./looking-suite.ts";
import type { Measurement } from "./measurement.ts";
import { millionSuite } from "./million-suite.ts";
import { outboxSuite } from "./outbox-suite.ts";
import { patternsSuite } from "./patterns-suite.ts";
import { persistSuite } from "./persist-suite.ts";
import { probesSuite } from "./probes-suite.ts";
import { redriveSuite } from "./redrive-suite.ts";
import { sqsSuite } from "./sqs-suite.ts";
import { tracingSuite } from "./tracing-suite.ts";

/** Everything that can be measured, by the name that `--only` knows. */
export const SUITES = {
  engine: engineSuite,
  tracing: tracingSuite,
  functions: functionsSuite,
  looking: lookingSuite,
  "sqs-sqs": (settings) => sqsSuite("sqs-sqs", settings),
  "mqtt-sqs": (settings) => sqsSuite("mqtt-sqs", settings),
  outbox: (settings) => outboxSuite("outbox", settings),
  "outbox-postgres": (settings) => outboxSuite("outbox-postgres", settings),
  patterns: patternsSuite,
  persist: persistSuite,
  "dlq-file": dlqSuite,
  million: millionSuite,
  redrive: redriveSuite,
  probes: probesSuite,
} as const satisfies Readonly<Record<string, (settings: Settings) => AsyncGenerator<Measurement>>>;

export type SuiteName = keyof typeof SUITES;
