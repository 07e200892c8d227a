import { PostgresCluster } from "@bridge/tooling/postgres-cluster";
import type { FunctionJob, InsertJob, Target } from "../functions/function-job.ts";
import { Child } from "../harness/child.ts";
import { CONTENDERS, type Settings } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";

const TO_HANDLER = new URL("../functions/to-handler.ts", import.meta.url);
const INTO_POSTGRES = new URL("../functions/into-postgres.ts", import.meta.url);
const RUN_TIMEOUT_MS = 120_000;
const SIZE = 256;
const ALONE = { messages: 1_000_000, warmUp: 200_000, window: 100 } as const;
const INSERTS = { messages: 40_000, warmUp: 5_000, window: 500, batch: 100 } as const;
const POSTGRES = ["fsync=on", "shared_buffers=128MB", "max_wal_size=1GB"] as const;

/** Handlers: what they cost beside the memory sender, which is the script here, and what a batch is good for. */
export async function* functionsSuite(settings: Settings): AsyncGenerator<Measurement> {
  for (const target of ["handler", "handler with a signal"] as const) {
    const runs = await alternate(settings.rounds, CONTENDERS, (contender) =>
      toHandler(contender === "script" ? "memory" : target, settings),
    );
    yield { suite: "functions", name: `a ${target}; the script is the memory sender`, runs };
  }
  await using cluster = await PostgresCluster.start(POSTGRES);
  const runs = await alternate(settings.rounds, CONTENDERS, (contender) =>
    intoPostgres(cluster.url, contender === "script" ? 1 : INSERTS.batch, settings),
  );
  yield { suite: "functions", name: `PostgreSQL in batches of ${INSERTS.batch}; the script is one by one`, runs };
}

async function toHandler(target: Target, settings: Settings): Promise<Run> {
  const messages = settings.messages ?? ALONE.messages;
  const job: FunctionJob = { target, window: ALONE.window, size: SIZE };
  await using child = await Child.start({ program: TO_HANDLER, job, profileDir: settings.profileDir });
  await child.ask("run", Math.min(ALONE.warmUp, messages), RUN_TIMEOUT_MS);
  return await measured(child, "run", messages, messages);
}

async function intoPostgres(url: string, batch: number, settings: Settings): Promise<Run> {
  const messages = settings.messages ?? INSERTS.messages;
  const job: InsertJob = { url, batch, window: INSERTS.window, size: SIZE };
  await using child = await Child.start({ program: INTO_POSTGRES, job, profileDir: settings.profileDir });
  await child.ask("run", Math.min(INSERTS.warmUp, messages), RUN_TIMEOUT_MS);
  return await measured(child, "run", messages, messages);
}
