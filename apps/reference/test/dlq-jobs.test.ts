import { expect, test } from "vitest";
import { Folder, HTTP } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";
import { Shop } from "./support/shop.ts";
import { begun, reaches } from "./support/told-jobs.ts";
import { until } from "./support/until.ts";

const ENTRIES = 300;
const CONCURRENCY = 8;
/** So many are at the target when the bridge is killed. */
const KILLED_AT = 120;

function documentOf(folder: Folder, target: string): string {
  return `${HTTP}
bridge: {id: jobs}
stores: {dlq: {type: file, options: {path: "${folder.path}/dlq.db"}}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0"}}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {max_replay_attempts: 1, max_in_flight: 20}}]
`;
}

/** Hands messages to the bridge's own listener, some at a time. */
async function post({ bridge }: Stage, bodies: readonly string[]): Promise<void> {
  const { port } = await bridge.logged("HTTP receiver listens");
  const rest = bodies.values();
  const sendOn = async (): Promise<void> => {
    for (const body of rest) {
      const answer = await fetch(`http://127.0.0.1:${String(port)}/ingest/in`, { method: "POST", body });
      await answer.arrayBuffer();
      expect(answer.status).toBe(202);
    }
  };
  await Promise.all(Array.from({ length: 10 }, sendOn));
}

test("operators 3.5.2: a job halts at a target that is broken, and once that is repaired and the bridge was killed amid it, every entry is there and no more than were in flight came twice", async () => {
  await using shop = await Shop.open();
  shop.refuses = () => true;
  const folder = new Folder();
  await using stage = await Stage.run(documentOf(folder, shop.url), {}, folder);
  const bodies = Array.from({ length: ENTRIES }, (_, nth) => `order-${nth}`);
  await post(stage, bodies);
  expect(await stage.admin("GET", "/dlq/summary")).toMatchObject({
    body: { total: ENTRIES, groups: [{ key: { route_id: "only", error_code: "UNAVAILABLE" }, count: ENTRIES }] },
  });

  const before = shop.asked;
  const order = {
    kind: "redrive",
    filter: { route_id: "only" },
    reason: "the shop is back",
    concurrency: CONCURRENCY,
    ramp: [1, 10],
    ramp_pause: "100ms",
  };
  const ask = stage.admin.bind(stage);
  const job = await begun(ask, order);
  expect(job).toMatchObject({ plan: { total: ENTRIES, predicted: { deliverable: ENTRIES } } });
  expect(await reaches(ask, job, "halted")).toMatchObject({
    halted: { why: "failure_ratio", failed: 1, attempts: 1 },
    progress: { failed: 1, remaining: ENTRIES - 1 },
  });
  expect(shop.asked).toBe(before + 1);

  shop.refuses = () => false;
  expect(await stage.admin("POST", `/dlq/jobs/${job.id}/resume`, { retry_failed: true })).toMatchObject({
    status: 202,
  });
  await until(
    "amid the job",
    () => shop.accepted.size >= KILLED_AT,
    () => shop.accepted.size,
  );
  await stage.restart();

  const { progress } = await reaches(ask, job, "completed");
  const { repeated } = shop;
  expect(new Set(shop.accepted.keys())).toEqual(new Set(bodies));
  expect(progress).toMatchObject({ done: ENTRIES, failed: 0, remaining: 0 });
  expect(repeated.length).toBeLessThanOrEqual(CONCURRENCY);
  expect(progress.in_doubt).toBeGreaterThanOrEqual(repeated.length);
  // Whoever gets one twice can tell by its id.
  for (const ids of repeated) expect(new Set(ids).size).toBe(1);
  expect(await stage.admin("GET", "/dlq/summary")).toMatchObject({ body: { total: 0 } });
});
