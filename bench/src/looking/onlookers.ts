/**
 * Those who look on, in a process of their own, which gives way to all others: they sit at other machines, and take no processor time
 * from the route there. @module
 */
import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, ready } from "../harness/answer.ts";
import { KEY, type Onlookers, ROUTE } from "./looking-job.ts";

const RETRY_MS = 100;

setPriority(constants.priority.PRIORITY_LOW);
let leave: (() => Promise<void>) | undefined;

/** Looks on at the full rate, and reads all of it. */
async function look({ url, count }: Onlookers): Promise<void> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const path = `${url}/api/v1/admin/routes/${ROUTE}/tail?rate=500&payload=full&duration=5m`;
  const reading = await Promise.all(
    Array.from({ length: count }, async () => {
      for (;;) {
        const response = await fetch(path, { headers: { "X-API-Key": KEY }, signal });
        if (response.status === 200) return read(response);
        // Those of the round before are ending, and so are their connections.
        if (response.status !== 503 && response.status !== 408)
          throw new Error(`a tail was answered with ${response.status}`);
        await response.text();
        await sleep(RETRY_MS);
      }
    }),
  );
  leave = async () => {
    leaving.abort();
    await Promise.all(reading.map(({ ended }) => ended));
  };
}

function read({ body }: Response): { readonly ended: Promise<void> } {
  const ended = (async (): Promise<void> => {
    for await (const _ of body ?? []) continue;
  })().catch(() => {});
  return { ended };
}

answer("look", look);
answer("leave", () => leave?.());
ready();
