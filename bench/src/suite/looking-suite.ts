import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../harness/child.ts";
import { KEY, type LookingJob, RATE, ROUTE } from "../looking/looking-job.ts";
import { CONTENDERS, type Settings } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement } from "./measurement.ts";

const PROGRAM = new URL("../looking/main.ts", import.meta.url);
const TARGET = new URL("../looking/target.ts", import.meta.url);
const TAILS = 8;
const CARRY_MS = 5_000;
const WARM_UP = 300_000;
const TIMEOUT_MS = 120_000;
const RETRY_MS = 100;
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
  const url = await child.ask<string>("url", undefined, TIMEOUT_MS);
  await child.ask("flood", WARM_UP, TIMEOUT_MS);
  const paced = (RATE * CARRY_MS) / 1_000;
  return await alternate(rounds, CONTENDERS, async (contender) => {
    await using _ = await tails(url, contender === "bridge" ? TAILS : 0);
    return await measured(child, "carry", CARRY_MS, paced);
  });
}

/** Looks on at the full rate, and reads all of it. */
async function tails(url: string, count: number): Promise<AsyncDisposable> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const path = `${url}/api/v1/admin/routes/${ROUTE}/tail?rate=500&payload=full&duration=5m`;
  const reading = await Promise.all(
    Array.from({ length: count }, async () => {
      for (;;) {
        const answer = await fetch(path, { headers: { "X-API-Key": KEY }, signal });
        if (answer.status === 200) return read(answer);
        // Those of the round before are ending, and so are their connections.
        if (answer.status !== 503 && answer.status !== 408)
          throw new Error(`a tail was answered with ${answer.status}`);
        await answer.text();
        await sleep(RETRY_MS);
      }
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await Promise.all(reading.map(({ ended }) => ended));
    },
  };
}

function read({ body }: Response): { readonly ended: Promise<void> } {
  const ended = (async (): Promise<void> => {
    for await (const _ of body ?? []) continue;
  })().catch(() => {});
  return { ended };
}
