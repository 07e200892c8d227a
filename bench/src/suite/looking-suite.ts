import { Child } from "../harness/child.ts";
import { type LookingJob, type Onlookers, RATE } from "../looking/looking-job.ts";
import { CONTENDERS, type Settings } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement } from "./measurement.ts";

const PROGRAM = new URL("../looking/main.ts", import.meta.url);
const ONLOOKERS = new URL("../looking/onlookers.ts", import.meta.url);
const TARGET = new URL("../looking/target.ts", import.meta.url);
const TAILS = 8;
const CARRY_MS = 5_000;
const WARM_UP = 300_000;
const TIMEOUT_MS = 120_000;
const NAME = `${RATE} a second, ${TAILS} tails of 500 a second with payloads`;

/** What it costs a route that others look on: the "script" is the same route, at which nobody looks. */
export async function* lookingSuite(settings: Settings): AsyncGenerator<Measurement> {
  yield { suite: "looking", name: `${NAME}, to nowhere`, runs: await looked({ target: undefined }, settings) };
  await using service = await Child.start({ program: TARGET, job: {} });
  const target = await service.ask<number>("port", undefined, TIMEOUT_MS);
  yield { suite: "looking", name: `${NAME}, to a web service`, runs: await looked({ target }, settings) };
}

async function looked(job: LookingJob, { profileDir, rounds }: Settings): Promise<Measurement["runs"]> {
  await using child = await Child.start({ program: PROGRAM, job, profileDir });
  await using onlookers = await Child.start({ program: ONLOOKERS, job: {} });
  const url = await child.ask<string>("url", undefined, TIMEOUT_MS);
  await child.ask("flood", WARM_UP, TIMEOUT_MS);
  const paced = (RATE * CARRY_MS) / 1_000;
  return await alternate(rounds, CONTENDERS, async (contender) => {
    await onlookers.ask("look", { url, count: contender === "bridge" ? TAILS : 0 } satisfies Onlookers, TIMEOUT_MS);
    const run = await measured(child, "carry", CARRY_MS, paced);
    await onlookers.ask("leave", undefined, TIMEOUT_MS);
    return run;
  });
}
