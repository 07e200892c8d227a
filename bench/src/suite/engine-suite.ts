import { Child } from "../harness/child.ts";
import type { EngineJob } from "../engine/engine-job.ts";
import { CONTENDERS, type Settings } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";

const MESSAGES = 1_000_000;
const WARM_UP = 200_000;
const RUN_TIMEOUT_MS = 120_000;
const WINDOW = 100;
const SIZE = 256;

/** The bridge between a source on demand and a target that always accepts. */
export const ENGINE_ALONE = new URL("../engine/engine-alone.ts", import.meta.url);

const ENGINE: Readonly<Record<(typeof CONTENDERS)[number], URL>> = {
  script: new URL("../baseline/engine.ts", import.meta.url),
  bridge: ENGINE_ALONE,
};
const MEMORY = new URL("../engine/memory-to-memory.ts", import.meta.url);

/** The engine without any network: how much of a core its own work on a message takes. */
export async function* engineSuite(settings: Settings): AsyncGenerator<Measurement> {
  for (const accept of ["microtask", "turn"] as const) {
    const runs = await alternate(settings.rounds, CONTENDERS, (contender) =>
      runEngine(ENGINE[contender], { window: WINDOW, size: SIZE, accept }, settings),
    );
    yield { suite: "engine", name: `on demand, accepted in the same ${accept}`, runs };
  }
  const runs = await alternate(settings.rounds, ["bridge"], () =>
    runEngine(MEMORY, { window: WINDOW, size: SIZE, accept: "microtask" }, settings),
  );
  yield { suite: "engine", name: "memory to memory", runs };
}

/** Has a program carry messages, once warm. */
export async function runEngine(program: URL, job: EngineJob, settings: Settings): Promise<Run> {
  const messages = settings.messages ?? MESSAGES;
  await using child = await Child.start({ program, job, profileDir: settings.profileDir });
  await child.ask("run", Math.min(WARM_UP, messages), RUN_TIMEOUT_MS);
  const run = await measured(child, "run", messages, messages);
  return { ...run, perCoreSecond: 1_000_000 / (run["cpuMicros"] ?? Number.NaN) };
}
