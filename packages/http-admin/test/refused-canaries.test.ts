import { times } from "@bridge/tooling/long";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { BRIDGELESS_CALLS, CALLS, CONFIG_CALLS, JOB_CALLS } from "./calls.ts";
import { partsOf } from "./described.ts";
import { type Call, type EveryCall, isOverlay, startWithEveryCall } from "./every-call.ts";

/** A secret, wherever a caller may put a text. */
const CANARY = "canary-0123456789";
/** With a binding a job names a route, too. */
const TO_BINDING = { kind: "redrive", filter: { route_id: "alarms" }, reason: "r", binding_id: "alarms" };
const SAMPLES = [...CALLS, ...BRIDGELESS_CALLS, ...CONFIG_CALLS, ...JOB_CALLS];
/** Of the heads of requests: what the server reads, and what others do. The id of a request is logged, as its sender gives it. */
const HEADERS = [
  ..."Idempotency-Key Cookie Content-Type Origin Sec-Fetch-Site X-Bridge-Console X-Forwarded-Proto".split(" "),
  ..."Accept If-Match Last-Event-ID Range Traceparent User-Agent X-Surplus".split(" "),
].slice(0, times(3, 14));
const TEXTS = [CANARY, `"${CANARY}"`, `{"${CANARY}`, `{"${CANARY}": 1, "${CANARY}": 2}`, `["${CANARY}"]`];
const VALUES = [CANARY, { [CANARY]: CANARY }, [CANARY]];

/** What there is of an endpoint's resources, by the names of its parameters. */
type Ids = Readonly<Record<string, string>>;

interface Request {
  readonly pathOf: (ids: Ids) => string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One whole over the other, down to their leaves. */
function merged(good: unknown, other: unknown): unknown {
  if (!isObject(good) || !isObject(other)) return other;
  const both = [...new Set([...Object.keys(good), ...Object.keys(other)])];
  return Object.fromEntries(both.map((key) => [key, key in other ? merged(good[key], other[key]) : good[key]]));
}

/** The bodies of good calls of the endpoint. */
function goodBodies({ method, template }: Call): readonly unknown[] {
  const shape = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  const sample = SAMPLES.find((one) => one.method === method && shape.test(one.path));
  if (sample === undefined) throw new Error(`${method} ${template} has no sample`);
  return sample.action === "dlq.job.plan" ? [sample.body, TO_BINDING] : [sample.body];
}

describe("a secret in any one place of a request", () => {
  let every: EveryCall;
  beforeAll(async () => {
    every = await startWithEveryCall();
  });
  afterAll(() => every.admin[Symbol.asyncDispose]());

  function* requests(call: Call, body: unknown): Generator<Request> {
    const { method, template, parameters, schema } = call;
    const at = (ids: Ids): string => template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "");
    for (const [, name = ""] of template.matchAll(/\{(\w+)\}/g))
      yield { pathOf: (ids) => at({ ...ids, [name]: CANARY }), body };
    const queries = parameters.flatMap(({ name }) => [`${name}=${CANARY}`, `${name}=1&${name}=${CANARY}`]);
    for (const query of [`${CANARY}=1`, `surplus=${CANARY}`, ...queries])
      yield { pathOf: (ids) => `${at(ids)}?${query}`, body };
    for (const name of HEADERS) yield { pathOf: at, body, headers: { [name]: CANARY } };
    if (method === "GET") return;
    for (const text of TEXTS) yield { pathOf: at, body: text };
    // What an overlay may hold is looked for elsewhere.
    if (schema === undefined || isOverlay(call)) return;
    for (const [, , bodyOf] of partsOf(schema, every.described))
      for (const value of VALUES) yield { pathOf: at, body: merged(body ?? {}, bodyOf(value)) };
  }

  /** Makes what a call needs that the one before may have used up. */
  async function prepared({ template }: Call): Promise<Ids> {
    const { admin } = every;
    const entry = "e1";
    if (template.startsWith("/dlq")) await keep(admin, deadLetter(entry));
    if (!template.startsWith("/config")) await admin.call("POST", "/bridge/start");
    let job = "";
    // Few may be active.
    if (template.startsWith("/dlq/jobs")) {
      const { body } = await admin.call("GET", "/dlq/jobs?state=active");
      for (const { id } of (body as { readonly jobs: readonly { readonly id: string }[] }).jobs)
        await admin.call("POST", `/dlq/jobs/${id}/cancel`);
    }
    if (template.includes("/jobs/")) {
      const plan = { kind: "redrive", filter: {}, reason: "r" };
      ({ id: job } = (await admin.call("POST", "/dlq/jobs", plan)).body as { readonly id: string });
    }
    const transaction = template.includes("{txnID}") ? await admin.opened() : "";
    return {
      routeID: "alarms",
      id: job === "" ? entry : job,
      envelopeID: entry,
      txnID: transaction.split("/").at(-1) ?? "",
    };
  }

  /** The calls of all endpoints, but for the document of the server, which is open to all. */
  const recorded = (): readonly Call[] =>
    every.calls.filter(({ template }) => template.startsWith("/") && template !== "/openapi.json");
  const logged = (): readonly string[] => every.heard().filter((one) => one.startsWith("[") && one.includes(CANARY));

  it("is in no record when it is refused, but as the resource that the path names, and in no line of the log", async () => {
    const { admin } = every;
    const wrong: string[] = [];
    let refused = 0;
    let sent = 0;
    for (const call of recorded()) {
      let ids = await prepared(call);
      for (const { pathOf, body, headers } of goodBodies(call).flatMap((good) => [...requests(call, good)])) {
        const before = admin.events.length;
        // Of its own, for what goes on is recorded when it ends.
        const own = `${CANARY}-${String(sent++).padStart(5, "0")}`;
        const withOwn = (text: string): string => text.replaceAll(CANARY, own);
        const path = withOwn(pathOf(ids));
        const text = body === undefined ? undefined : withOwn(typeof body === "string" ? body : JSON.stringify(body));
        const head: [string, string][] = Object.entries(headers ?? {}).map(([name, value]) => [name, withOwn(value)]);
        const init = { headers: [["X-API-Key", ADMIN_KEY], ...head] satisfies [string, string][] };
        const { status } = await admin.call(call.method, path, text, init);
        if (status < 400) {
          if (call.method !== "GET") ids = await prepared(call);
          continue;
        }
        refused++;
        const records = admin.events.slice(before);
        const request = `${call.method} ${path} ${JSON.stringify([text, head])}: ${status}`;
        if (records.length === 0) wrong.push(`${request} has no record`);
        for (const { resource_id: _, ...record } of records) {
          // What could not be done was asked for all the same.
          const isAsked = record.action.endsWith(".begin") && status !== 400;
          const said = JSON.stringify(record);
          if (!isAsked && said.includes(own)) wrong.push(`${request} ${said}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(500);
    expect(logged()).toEqual([]);
  }, 240_000);

  it("nor when it is shown as a key", async () => {
    const { admin } = every;
    const before = admin.events.length;
    for (const { method, path } of recorded())
      for (const headers of [{ "X-API-Key": CANARY }, { Authorization: `Bearer ${CANARY}` }])
        expect([401, 429]).toContain((await admin.call(method, path, undefined, { headers })).status);
    expect(admin.events.length).toBeGreaterThan(before);
    expect(admin.events.slice(before).filter((record) => JSON.stringify(record).includes(CANARY))).toEqual([]);
    expect(logged()).toEqual([]);
  });
});
