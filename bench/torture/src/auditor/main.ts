/**
 * The auditor: offers messages, watches the wires and the targets, and keeps its own book of all of it. It shares nothing
 * with the bridge but the network, and believes nothing that the bridge says. @module
 */
import { answer, ready } from "../../../src/harness/answer.ts";
import { type RouteName, ROUTES } from "../routes.ts";
import { watchBroker, watchJournal } from "./arrivals.ts";
import type { Hindrance } from "./doubt.ts";
import { type Answers, HttpSource } from "./http-source.ts";
import type { AuditorJob, Standing, TapPorts } from "./job.ts";
import { judge, type Judgement, type Whereabouts } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { connectTo, MqttSource } from "./mqtt-source.ts";
import { pace } from "./pace.ts";
import type { Source } from "./source.ts";
import { Wires } from "./wires.ts";

const job = JSON.parse(process.argv[2] ?? "") as AuditorJob;
const ledger = new Ledger(job.routes, job.began);
const wires = new Wires(ledger, job.mode);
const sources = new Map<RouteName, Source>();
let stopPace: () => void = () => {};

answer("tap", async (leadsTo: TapPorts): Promise<TapPorts> => {
  const [source, ingest, target, web] = await Promise.all([
    wires.tapSource("mqtt", leadsTo.source),
    wires.tapSource("http", leadsTo.ingest),
    wires.tapTarget("mqtt", leadsTo.target),
    wires.tapTarget("http", leadsTo.web),
  ]);
  return { source: source.port, ingest: ingest.port, target: target.port, web: web.port };
});

/** Watches the targets; from then on everything that arrives is known. */
answer("watch", async (): Promise<void> => {
  await watchBroker(await connectTo(job.targetBroker, "auditor-arrivals"), ledger);
  // A journal that cannot be read any more makes the audit void: this process then ends.
  void watchJournal(job.journal, ledger, new AbortController().signal);
});

/** Begins to offer messages; HTTP goes to the port that is given. */
answer("offer", async (ingest: number): Promise<void> => {
  const client = await connectTo(job.sourceBroker, "auditor-source");
  for (const route of job.routes) {
    const source =
      ROUTES[route].source === "mqtt" ? new MqttSource(client, route, ledger) : new HttpSource(ingest, route, ledger);
    sources.set(route, source);
  }
  stopPace = pace({ sources, rate: job.rate, mayFail: job.mayFail, ledger });
});

/** No new messages; those that are open are still offered until they are accepted. */
answer("enough", () => stopPace());

answer("dying", () => wires.dying());

answer("hinder", ({ hindrance, on }: { readonly hindrance: Hindrance; readonly on: boolean }) =>
  wires.hinder(hindrance, on),
);

answer("standing", (): Standing => {
  const open = [...sources.values()].reduce((sum, source) => sum + source.open, 0);
  return { ...ledger.totals, interruptions: wires.interruptions, answers: answers(), open };
});

answer("judge", (where: Whereabouts): Judgement => judge(ledger, job.routes, job.mode, where));

function answers(): Answers {
  const all = { outcomes: {} as Record<string, number>, refused: {} as Record<string, number>, unconfirmed: 0 };
  for (const source of sources.values()) {
    if (!(source instanceof HttpSource)) continue;
    const { outcomes, refused, unconfirmed } = source.answers;
    for (const [outcome, count] of Object.entries(outcomes))
      all.outcomes[outcome] = (all.outcomes[outcome] ?? 0) + count;
    for (const [status, count] of Object.entries(refused)) all.refused[status] = (all.refused[status] ?? 0) + count;
    all.unconfirmed += unconfirmed;
  }
  return all;
}

ready();
