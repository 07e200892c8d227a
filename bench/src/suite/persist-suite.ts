import { join } from "node:path";
import { Child } from "../harness/child.ts";
import { folder } from "../harness/folder.ts";
import type { PersistJob } from "../persist/persist-job.ts";
import { CONTENDERS, type Settings } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement } from "./measurement.ts";

const PROGRAMS = {
  script: new URL("../baseline/persist.ts", import.meta.url),
  bridge: new URL("../persist/main.ts", import.meta.url),
} as const;
const IN_FLIGHT = [100, 1_000];
const SIZE = 256;
const RECORDS = 200_000;
const WARM_UP = 20_000;
const WARM_UP_TIMEOUT_MS = 60_000;

/** The way into an outbox alone, on the main thread and in a thread of its own, beside SQLite with groups of that size. */
export async function* persistSuite(settings: Settings): AsyncGenerator<Measurement> {
  const records = settings.messages ?? RECORDS;
  for (const inFlight of IN_FLIGHT) {
    for (const thread of ["main", "worker"] as const) {
      const runs = await alternate(settings.rounds, CONTENDERS, async (contender) => {
        await using place = await folder();
        const job: PersistJob = { inFlight, size: SIZE, path: join(place.path, "outbox.db"), thread };
        await using child = await Child.start({
          program: PROGRAMS[contender],
          job,
          profileDir: settings.profileDir,
        });
        await child.ask("persist", Math.min(WARM_UP, records), WARM_UP_TIMEOUT_MS);
        return await measured(child, "persist", records, records);
      });
      yield { suite: "persist", name: `${inFlight} in flight, ${thread} thread`, runs };
    }
  }
}
