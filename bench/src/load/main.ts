/** The load of one run: puts messages in at one end, expects them at the other, and keeps the ledger. @module */
import { setTimeout as sleep } from "node:timers/promises";
import { answer, ready } from "../harness/answer.ts";
import { type Flood, Flow, type Pace } from "./flow.ts";
import { Ledger } from "./ledger.ts";
import { openSink, type SinkJob } from "./sink.ts";
import { openSource, type SourceJob } from "./source.ts";

/** How long duplicates may still come in before the balance is drawn. */
const SETTLE_MS = 100;

const { size } = JSON.parse(process.argv[2] ?? "") as { readonly size: number };
const ledger = new Ledger(size);
const flow = new Flow(ledger);

answer("sink", (job: SinkJob) =>
  openSink(job, (payload) => {
    ledger.receive(payload);
    flow.advance();
  }),
);
answer("source", async (job: SourceJob) => flow.begin(await openSource(job, ledger, () => flow.advance())));
answer("resume", () => flow.resume());
answer("flood", (flood: Flood) => flow.flood(flood));
answer("pace", (pace: Pace) => flow.pace(pace));
answer("balance", async () => {
  await sleep(SETTLE_MS);
  return ledger.balance();
});
ready();
