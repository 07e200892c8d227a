import type { Recorder } from "@bridge/core";
import { EventStream, showable, streamAnswer, type StreamEvent } from "@bridge/http-kit";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { condition, conditionToWire } from "./conditions.ts";
import { jobsEvent, JobsSource } from "./jobs-topic.ts";
import { overview, type OverviewLook, OverviewSource, overviewSince } from "./overview.ts";

const EVERY_MS = 1_000;

export const conditionsEvent = v.object({ conditions: v.array(condition) });

/** What one connection is told of a topic; asked each second for what is new since it was asked last. */
type Topic = (signal: AbortSignal) => Promise<object | undefined>;

/** What a page shows of a bridge, in one stream. Each topic is a maker of what a connection has not been told yet. */
export function eventsEndpoint(bridge: BridgeAccess, recorder: Recorder | undefined): AdminEndpoint {
  const source = new OverviewSource(() => bridge.supervisor, bridge.clock);
  const jobs = new JobsSource(() => bridge.supervisor, bridge.clock);
  const topics: Readonly<Record<string, () => Topic>> = {
    overview: () => overviewTopic(source),
    jobs: () => jobs.topic(),
    ...(recorder !== undefined && { conditions: () => conditionsTopic(recorder) }),
  };
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/events",
    access: "admin",
    audit: "events.open",
    summary: "What a page shows of the bridge, as it changes.",
    query: v.object({
      topics: v.optional(
        v.pipe(
          v.string(),
          v.description(`Some of ${Object.keys(topics).join(", ")}, with commas between. Default: all.`),
          showable(),
          v.check(
            (names) => names.split(",").every((name) => Object.hasOwn(topics, name)),
            `expected some of ${Object.keys(topics).join(", ")}, with commas between`,
          ),
        ),
      ),
    }),
    guard: () => void bridge.supervisor,
    refusals: { 503: "The process has no bridge yet." },
    stream: {
      kind: "events",
      events: { overview, jobs: jobsEvent, ...(recorder !== undefined && { conditions: conditionsEvent }) },
    },
    answers: { 200: streamAnswer("Of each topic what has changed, at most once a second; at first all of it.") },
  }).handle(({ query }) => {
    const names = query.topics === undefined ? Object.keys(topics) : query.topics.split(",");
    const asked = [...new Set(names)].flatMap((event) => {
      const next = topics[event]?.();
      return next === undefined ? [] : [{ event, next }];
    });
    return { status: 200, body: new EventStream({ events: (signal) => told(asked, bridge, signal) }) };
  });
}

async function* told(
  topics: readonly { readonly event: string; readonly next: Topic }[],
  { clock }: BridgeAccess,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamEvent[]> {
  while (!signal.aborted) {
    const events: StreamEvent[] = [];
    for (const { event, next } of topics) {
      const data = await next(signal);
      if (data !== undefined) events.push({ event, data });
    }
    if (events.length > 0) yield events;
    await clock.delay(EVERY_MS, signal).catch(() => {});
  }
}

function overviewTopic(source: OverviewSource): Topic {
  let before: OverviewLook | undefined;
  return async (signal) => {
    const now = await source.look(signal);
    const changed = overviewSince(before, now);
    before = now;
    return changed;
  };
}

function conditionsTopic(recorder: Recorder): Topic {
  let before: number | undefined;
  return async () => {
    if (recorder.changes === before) return undefined;
    before = recorder.changes;
    return { conditions: recorder.conditions().map(conditionToWire) };
  };
}
