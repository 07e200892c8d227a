import { expect, test } from "vitest";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually, type Told } from "./support/ask.ts";
import { Folder, HTTP } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";
import { until } from "./support/until.ts";

const ENTRIES = 300;
const CONCURRENCY = 8;
/** So many are at the target when the bridge is killed. */
const KILLED_AT = 120;

interface JobBody {
  readonly id: string;
  readonly state: string;
  readonly plan: { readonly hash: string; readonly total: number };
  readonly progress: Readonly<Record<"done" | "succeeded" | "failed" | "in_doubt" | "remaining", number>>;
}

/** A web service that refuses until it is repaired, and remembers under which id each body came. */
class Shop implements AsyncDisposable {
  /** Of each body that was accepted, the ids of its messages, one for each time. */
  readonly accepted = new Map<string, string[]>();
  asked = 0;
  isRepaired = false;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async open(): Promise<Shop> {
    const shop = new Shop();
    shop.#server.listen(0, "127.0.0.1");
    await once(shop.#server, "listening");
    return shop;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked++;
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    if (this.isRepaired) {
      const ids = this.accepted.get(body) ?? [];
      this.accepted.set(body, [...ids, String(request.headers["idempotency-key"])]);
    }
    response.writeHead(this.isRepaired ? 200 : 503).end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

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
  const planned = (await stage.admin("POST", "/dlq/jobs", order)).body as JobBody;
  expect(planned).toMatchObject({ state: "planned", plan: { total: ENTRIES, predicted: { deliverable: ENTRIES } } });
  expect(shop.asked).toBe(before);

  const path = `/dlq/jobs/${planned.id}`;
  const reaches = async (state: string): Promise<JobBody> => {
    const wanted = ({ body }: Told): boolean => (body as Partial<JobBody>).state === state;
    return (await eventually(() => stage.admin("GET", path), wanted)).body as JobBody;
  };
  await stage.admin("POST", `${path}/start`, { plan_hash: planned.plan.hash });
  expect(await reaches("halted")).toMatchObject({
    halted: { why: "failure_ratio", failed: 1, attempts: 1 },
    progress: { failed: 1, remaining: ENTRIES - 1 },
  });
  expect(shop.asked).toBe(before + 1);

  shop.isRepaired = true;
  expect(await stage.admin("POST", `${path}/resume`, { retry_failed: true })).toMatchObject({ status: 202 });
  await until(
    "amid the job",
    () => shop.accepted.size >= KILLED_AT,
    () => shop.accepted.size,
  );
  await stage.restart();

  const { progress } = await reaches("completed");
  const repeated = [...shop.accepted.values()].filter((ids) => ids.length > 1);
  expect(new Set(shop.accepted.keys())).toEqual(new Set(bodies));
  expect(progress).toMatchObject({ done: ENTRIES, failed: 0, remaining: 0 });
  expect(repeated.length).toBeLessThanOrEqual(CONCURRENCY);
  expect(progress.in_doubt).toBeGreaterThanOrEqual(repeated.length);
  // Whoever gets one twice can tell by its id.
  for (const ids of repeated) expect(new Set(ids).size).toBe(1);
  expect(await stage.admin("GET", "/dlq/summary")).toMatchObject({ body: { total: 0 } });
});
