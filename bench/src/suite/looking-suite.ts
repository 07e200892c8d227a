import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../harness/child.ts";
import { KEY, RATE, ROUTE } from "../looking/looking-job.ts";
import type { Contender, Settings } from "./contender.ts";
import { CONTENDERS } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";

const PROGRAM = new URL("../looking/main.ts", import.meta.url);
const TAILS = 8;
const CARRY_MS = 5_000;
const WARM_UP = 300_000;
const TIMEOUT_MS = 120_000;
const RETRY_MS = 100;

/** What it costs a route that others look on: the "script" is the same route, at which nobody looks. */
export async function* lookingSuite(settings: Settings): AsyncGenerator<Measurement> {
  await using child = await Child.start({ program: PROGRAM, job: {}, profileDir: settings.profileDir });
  const url = await child.ask<string>("url", undefined, TIMEOUT_MS);
  await child.ask("flood", WARM_UP, TIMEOUT_MS);
  const looked = async (contender: Contender, run: () => Promise<Run>): Promise<Run> => {
    await using _ = await tails(url, contender === "bridge" ? TAILS : 0);
    return await run();
  };
  const paced = (RATE * CARRY_MS) / 1_000;
  const carried = await alternate(settings.rounds, CONTENDERS, (contender) =>
    looked(contender, () => measured(child, "carry", CARRY_MS, paced)),
  );
  yield { suite: "looking", name: `${RATE} a second, ${TAILS} tails of 500 a second with payloads`, runs: carried };
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
