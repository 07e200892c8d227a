/**
 * The auditor: offers messages, watches the wires and the targets, and keeps its own book of all of it. It shares nothing
 * with the bridge but the network, and believes nothing that the bridge says. @module
 */
import type { JetStreamClient } from "@nats-io/jetstream";
import { answer, ready } from "../../../src/harness/answer.ts";
import { SOURCE_STREAM, TARGET_STREAM } from "../bridge/document.ts";
import { type EndName, type Role, type RouteName, sourceOf, type Transport } from "../routes.ts";
import { AmqpSource } from "./amqp-source.ts";
import { watchAmqp, watchJournal, watchMqtt, watchNats } from "./arrivals.ts";
import type { Hindrance } from "./doubt.ts";
import { type Answers, HttpSource } from "./http-source.ts";
import type { AuditorJob, EndPorts, Ingests, Standing } from "./job.ts";
import { judge, type Judgement, type Whereabouts } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { connectTo, MqttSource } from "./mqtt-source.ts";
import { openStream } from "./nats-client.ts";
import { NatsSource } from "./nats-source.ts";
import { pace } from "./pace.ts";
import type { Source } from "./source.ts";
import { Wires } from "./wires.ts";

const job = JSON.parse(process.argv[2] ?? "") as AuditorJob;
const ledger = new Ledger(job.routes, job.began);
const wires = new Wires(ledger, job.mode);
const sources = new Map<RouteName, Source>();
let natsSource: JetStreamClient | undefined;
let stopPace: () => void = () => {};
/** This process ends when it is not needed any more. */
const forever = new AbortController().signal;

answer("tap", async (leadTo: EndPorts): Promise<EndPorts> => {
  const ends = Object.entries(leadTo) as [EndName, number][];
  const taps = ends.map(async ([end, port]) => {
    const [role, transport] = end.split("_") as [Role, Transport];
    const tap = await (role === "source" ? wires.tapSource(transport, port) : wires.tapTarget(transport, port));
    return [end, tap.port] as const;
  });
  return Object.fromEntries(await Promise.all(taps));
});

/** Makes the streams and watches the targets; from then on everything that arrives is known. */
answer("watch", async (): Promise<void> => {
  const { brokers, journal } = job;
  if (brokers.target_mqtt !== undefined)
    await watchMqtt(await connectTo(brokers.target_mqtt, "auditor-arrivals"), ledger);
  if (brokers.target_amqp !== undefined) await watchAmqp(brokers.target_amqp, ledger);
  if (brokers.target_nats !== undefined)
    await watchNats(await openStream(brokers.target_nats, TARGET_STREAM), ledger, forever);
  if (brokers.source_nats !== undefined) natsSource = await openStream(brokers.source_nats, SOURCE_STREAM);
  // A journal that cannot be read any more makes the audit void: this process then ends.
  if (journal !== undefined) void watchJournal(journal, ledger, forever);
});

/** Begins to offer messages; those over HTTP go to the ports that are given. */
answer("offer", async (ingests: Ingests): Promise<void> => {
  const { source_mqtt: mqtt, source_amqp: amqp } = job.brokers;
  const client = mqtt === undefined ? undefined : await connectTo(mqtt, "auditor-source");
  for (const route of job.routes) {
    const [source, ingest] = [sourceOf(route), ingests[route]];
    if (source === "mqtt" && client !== undefined) sources.set(route, new MqttSource(client, route, ledger));
    if (source === "http" && ingest !== undefined) sources.set(route, new HttpSource(ingest, route, ledger));
    if (source === "nats" && natsSource !== undefined) sources.set(route, new NatsSource(natsSource, route, ledger));
    if (source === "amqp" && amqp !== undefined) sources.set(route, await AmqpSource.connect(amqp, route, ledger));
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
