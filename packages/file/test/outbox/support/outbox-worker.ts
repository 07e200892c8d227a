/**
 * Persists, claims and finishes until it is killed, and writes what is done: `outbox-worker.ts FILE`. @module
 */
import { writeSync } from "node:fs";
import { end, outboxRecord, ROUTE } from "./records.ts";
import { openOutbox } from "./scratch-outbox.ts";

const [path = ""] = process.argv.slice(2);
const { signal } = new AbortController();
const store = openOutbox(path);
let next = 0;

async function persistOn(): Promise<never> {
  for (;;) {
    const number = next++;
    const id = `r${number}`;
    await store.persist([outboxRecord(id, { orderingKey: `key ${number % 10}` }, number % 3_000)], signal);
    writeSync(1, `persisted ${id}\n`);
  }
}

/** Every fifth record has to be tried again. */
async function drainOn(): Promise<never> {
  for (;;) {
    const claims = await store.claim({ ...ROUTE, limit: 20, loanMs: 60_000 }, signal);
    const failed = claims.filter((_, i) => i % 5 === 4);
    const sent = claims.filter((claim) => !failed.includes(claim));
    await store.finish(
      [
        ...sent.map((claim) => end(claim, { kind: "done" })),
        ...failed.map((claim) => end(claim, { kind: "retry", delayMs: 0, attempts: claim.attempts + 1 })),
      ],
      signal,
    );
    for (const { record } of sent) writeSync(1, `finished ${record.id}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

await Promise.all([...Array.from({ length: 12 }, persistOn), drainOn(), drainOn()]);
