import fc from "fast-check";
import { BridgeError } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { type Admin, ADMIN_KEY, type Answer, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { JOB_CALLS } from "./calls.ts";

interface JobBody {
  readonly id: string;
  readonly state: string;
  readonly requested?: string;
  readonly owner?: string;
  readonly rate: number;
  readonly plan: { readonly hash: string; readonly total: number };
  readonly progress: { readonly succeeded: number; readonly failed: number; readonly done: number };
}

const REDRIVE = { kind: "redrive", filter: { route_id: "alarms" }, reason: "INC-2041: the shop is back" };
const PURGE = { kind: "purge", filter: { route_id: "alarms" }, reason: "test data" };
const keyOf = (name: string): string => `${name}-key-0123456789`;
const shown = (key: string): RequestInit => ({ headers: { "X-API-Key": key } });
const KEYS = {
  adminApiKey: ADMIN_KEY,
  adminApiKeys: {
    viewer: { key: keyOf("viewer"), role: "viewer" },
    alice: { key: keyOf("alice"), role: "operator" },
    redriver: { key: keyOf("redriver"), permissions: ["read", "dlq.redrive"] },
  },
} as const;

const bodyOf = ({ body }: Answer): JobBody => body as JobBody;

async function planned(admin: Admin, order: object = REDRIVE): Promise<JobBody> {
  const answer = await admin.call("POST", "/dlq/jobs", order);
  expect(answer).toMatchObject({ status: 201, body: { state: "planned" } });
  return bodyOf(answer);
}

async function begun(admin: Admin, order: object = REDRIVE): Promise<JobBody> {
  const { id, plan } = await planned(admin, order);
  return bodyOf(await admin.call("POST", `/dlq/jobs/${id}/start`, { plan_hash: plan.hash }));
}

async function until(admin: Admin, id: string, state: string): Promise<JobBody> {
  const now = async (): Promise<JobBody> => bodyOf(await admin.call("GET", `/dlq/jobs/${id}`));
  await expect
    .poll(async () => (({ state: at, requested, owner }) => (requested ?? owner) === undefined && at)(await now()), {
      timeout: 20_000,
    })
    .toBe(state);
  return now();
}

const entries = (count: number) =>
  Array.from({ length: count }, (_, nth) => deadLetter(`e${nth}`, { failedAt: nth + 1 }));

describe("operators 3: jobs over the admin server", () => {
  it("interface 4.10.6: a job is shown, changed and cancelled where it is worked on while its store takes and tells nothing of it, which is said", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(50));
    const { id } = await begun(admin, { ...REDRIVE, rate: 5, ramp: [] });
    await expect.poll(async () => bodyOf(await admin.call("GET", `/dlq/jobs/${id}`)).progress.done).toBeGreaterThan(1);
    admin.faults.store = (method) => {
      if (method.startsWith("jobs.")) throw new BridgeError("CONNECTION_LOST", "the database is away");
    };
    const warning = expect.stringContaining("ask again") as string;
    expect(await admin.call("GET", `/dlq/jobs/${id}`)).toMatchObject({
      status: 200,
      body: { state: "running", warning },
    });
    expect(await admin.call("PATCH", `/dlq/jobs/${id}`, { rate: 1 })).toMatchObject({
      status: 200,
      body: { rate: 1, warning },
    });
    expect(await admin.call("POST", `/dlq/jobs/${id}/cancel`)).toMatchObject({
      status: 202,
      body: { rate: 1, requested: "cancel", warning },
    });
    expect(await admin.call("PATCH", `/dlq/jobs/${id}`, { rate: 2 })).toMatchObject({
      status: 409,
      body: { error: "the job is being cancelled: nothing of it can be changed", reason: "ended" },
    });
    admin.faults.store = undefined;
    expect(await until(admin, id, "cancelled")).not.toHaveProperty("warning");
  });

  it("interface 4.10.6: what a call on a job needs is known where it is worked on: its store is asked for the call alone", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(50));
    const { id } = await begun(admin, { ...REDRIVE, rate: 5, ramp: [] });
    await expect.poll(async () => bodyOf(await admin.call("GET", `/dlq/jobs/${id}`)).progress.done).toBeGreaterThan(1);
    let reads = 0;
    admin.faults.store = (call) => {
      if (call === "jobs.get") reads++;
      if (call.startsWith("jobs.")) throw new BridgeError("CONNECTION_LOST", "the database is away");
    };
    expect((await admin.call("PATCH", `/dlq/jobs/${id}`, { rate: 1 })).status).toBe(200);
    expect(reads).toBe(1);
    admin.faults.store = undefined;
  });

  it("plans, starts and completes a redrive, and records each step", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(5));
    const job = await planned(admin, { ...REDRIVE, ramp_pause: "0s" });
    expect(job).toMatchObject({
      kind: "redrive",
      actor: "admin",
      reason: "INC-2041: the shop is back",
      filter: { route_id: "alarms" },
      rate: 100,
      concurrency: 16,
      ramp: [1, 10, 100, 1000],
      ramp_pause_ms: 0,
      halt: { failure_ratio: 0.1, min_attempts: 20, consecutive: 10 },
      plan: {
        total: 5,
        exact: true,
        lanes: [{ route_id: "alarms", count: 5, ready: true }],
        predicted: { examined: 5, deliverable: 5, expired: 0, filtered: 0, no_route: 0, failed: 0, ordering_keys: 1 },
      },
      progress: { total: 5, done: 0, remaining: 5, percent: 0 },
    });
    const started = await admin.call("POST", `/dlq/jobs/${job.id}/start`, { plan_hash: job.plan.hash });
    expect(started).toMatchObject({ status: 202, body: { id: job.id, state: "running" } });
    const done = await until(admin, job.id, "completed");
    const step = { index: 2, of: 2, size: 4, done: 4, failed: 0 };
    expect(done.progress).toMatchObject({ succeeded: 5, done: 5, failed: 0, step });
    expect(await admin.ids()).toEqual([]);
    expect(admin.hub.channel("out").arrived).toBe(5);
    // Operators 6.4: where a message is says which job has redriven it.
    expect(await admin.call("GET", "/messages/envelope-e0")).toMatchObject({
      body: { places: [{ where: "redriven_as", job_id: job.id }] },
    });
    expect(admin.events.map(({ action, outcome }) => [action, outcome])).toEqual(
      expect.arrayContaining([
        ["dlq.job.plan", "success"],
        ["dlq.job.start.begin", "pending"],
        ["dlq.job.start", "success"],
      ]),
    );
    expect(admin.events[0]).toMatchObject({ detail: { job_id: job.id, plan_hash: job.plan.hash, total: 5 } });
  });

  it("the plan is to be shown at the start", async () => {
    await using admin = await startAdmin();
    const { id } = await planned(admin);
    expect(await admin.call("POST", `/dlq/jobs/${id}/start`, { plan_hash: "0000" })).toMatchObject({
      status: 409,
      body: { error: "the plan is another one: look at it again", reason: "plan_changed" },
    });
  });

  it("operators 3.3: a start of another plan is refused of a job that runs already, and changes nothing; repeated, it is not", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(3));
    const job = await planned(admin, { ...REDRIVE, rate: 0.1 });
    const start = (hash: string) => admin.call("POST", `/dlq/jobs/${job.id}/start`, { plan_hash: hash });
    expect((await start(job.plan.hash)).status).toBe(202);
    expect(await start("0000")).toMatchObject({ status: 409, body: { reason: "plan_changed" } });
    expect(await start(job.plan.hash)).toMatchObject({ status: 202, body: { state: "running" } });
    await admin.call("POST", `/dlq/jobs/${job.id}/pause`);
    await until(admin, job.id, "paused");
    expect(await start("0000")).toMatchObject({ status: 409, body: { reason: "state" } });
  });

  it("operators 12.7: a purge that was cancelled before its start is undone, and brings nothing back", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(3));
    for (const within of ["1h", "0s"]) {
      const { id } = await planned(admin, { ...PURGE, undo_within: within });
      await admin.call("POST", `/dlq/jobs/${id}/cancel`);
      expect((await admin.call("POST", `/dlq/jobs/${id}/undo`)).status).toBe(202);
      expect((await until(admin, id, "undone")).progress).toMatchObject({ succeeded: 0, restored: 0, present: 0 });
    }
    expect(await admin.ids()).toHaveLength(3);
  });

  it("operators 3.1: what a job that is over has left failed is not tried again by it, but by another one of its filter job_id", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(3));
    const { sends } = admin.hub.channel("out");
    sends.failNext(3, new BridgeError("FORBIDDEN", "no"));
    const { id } = await begun(admin, { ...REDRIVE, ramp: [], halt: { failure_ratio: 1, consecutive: 0 } });
    expect((await until(admin, id, "completed")).progress).toMatchObject({ failed: 3 });
    expect(await admin.call("POST", `/dlq/jobs/${id}/resume`, { retry_failed: true })).toMatchObject({
      status: 409,
      body: { error: "the job is completed", reason: "state" },
    });
    const again = await begun(admin, { ...REDRIVE, filter: { job_id: id } });
    expect((await until(admin, again.id, "completed")).progress).toMatchObject({ total: 3, succeeded: 3 });
    expect(await admin.ids()).toEqual([]);
  });

  it("a route is in one job at a time", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(3));
    const first = await begun(admin, { ...REDRIVE, rate: 0.1 });
    const second = await planned(admin);
    expect(await admin.call("POST", `/dlq/jobs/${second.id}/start`, { plan_hash: second.plan.hash })).toMatchObject({
      status: 409,
      body: { error: `route alarms is in job ${first.id} already`, reason: "route_busy" },
    });
  });

  it("refuses what is not as the page has it, naming the field and the value", async () => {
    await using admin = await startAdmin();
    for (const [change, error] of [
      [{ ramp: [10, 5] }, "ramp: expected ascending integers"],
      [{ ramp: [1, 1] }, "ramp: expected ascending integers"],
      [{ rate: 0 }, "rate: expected a number from 0.1 to 10000 (got 0)"],
      [{ rate: "5" }, 'rate: expected a number from 0.1 to 10000 (got "5")'],
      [{ rate: [5] }, "rate: expected a number from 0.1 to 10000 (got an array)"],
      [{ concurrency: 257 }, "concurrency: expected an integer from 1 to 256 (got 257)"],
      [{ halt: { consecutive: null } }, "halt.consecutive: expected an integer from 0 to 1000 (got null)"],
      [{ undo_within: "1h" }, 'undo_within: only a purge is undone (got "1h")'],
      [{ kind: "purge", start: true }, "start: a purge is planned first (got true)"],
      [{ filter: {}, binding_id: "alarms" }, "binding_id: needs filter.route_id"],
      [{ binding_id: "to-a" }, "binding_id: route alarms has no binding to-a"],
      [{ reason: "" }, "reason: must not be empty"],
      // It would match everything.
      [{ filter: [] }, "filter: expected a JSON object (got an array)"],
      [{ halt: [] }, "halt: expected a JSON object (got an array)"],
    ] as const)
      expect(await admin.call("POST", "/dlq/jobs", { ...REDRIVE, ...change })).toMatchObject({
        status: 400,
        body: { error: `invalid request body: ${error}` },
      });
    expect(await admin.call("GET", "/dlq/jobs?cursor=x")).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("is not one of this list") as string },
    });
  });

  it("spec 4.10: refuses a time from which on is not before that up to which, and a list of that is empty", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("a"));
    const [early, late] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"];
    const plan = async (filter: object) => admin.call("POST", "/dlq/jobs", { ...REDRIVE, filter });
    for (const since of [late, early])
      expect(await plan({ since, before: early })).toMatchObject({
        status: 400,
        body: {
          error: `invalid request body: filter.since: is not before filter.before: no entry failed between them; exchange them, or leave one out (got "${since}")`,
        },
      });
    expect((await plan({ since: early, before: late })).status).toBe(201);
    for (const path of ["/dlq/messages", "/dlq/summary", "/dlq/export"])
      expect((await admin.call("GET", `${path}?since=${late}&before=${early}`)).status).toBe(200);
  });

  it("the same Idempotency-Key gives the same job, and another body under it is refused", async () => {
    await using admin = await startAdmin();
    const init = { headers: { "X-API-Key": ADMIN_KEY, "Idempotency-Key": "k1" } };
    const first = await admin.call("POST", "/dlq/jobs", REDRIVE, init);
    const again = await admin.call("POST", "/dlq/jobs", REDRIVE, init);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(bodyOf(again).id).toBe(bodyOf(first).id);
    expect(await admin.call("POST", "/dlq/jobs", PURGE, init)).toMatchObject({
      status: 422,
      body: { reason: "key_reused" },
    });
    const long = { headers: { "X-API-Key": ADMIN_KEY, "Idempotency-Key": "k".repeat(129) } };
    expect((await admin.call("POST", "/dlq/jobs", REDRIVE, long)).status).toBe(400);
  });

  it("sixteen may be active", async () => {
    await using admin = await startAdmin();
    for (let nth = 0; nth < 16; nth++) await planned(admin);
    const error = expect.stringMatching(/16 of them planned and not started: list them with state=active/) as string;
    expect(await admin.call("POST", "/dlq/jobs", REDRIVE)).toMatchObject({
      status: 409,
      body: { reason: "too_many", error },
    });
  });

  it("lists the newest first, in pages", async () => {
    await using admin = await startAdmin();
    const ids = [];
    for (let nth = 0; nth < 5; nth++) ids.push((await planned(admin)).id);
    await admin.call("POST", `/dlq/jobs/${ids[0]}/cancel`);
    const seen: string[] = [];
    let cursor: string | undefined = "";
    while (cursor !== undefined) {
      const { body } = await admin.call("GET", `/dlq/jobs?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      const page = body as { readonly jobs: readonly JobBody[]; readonly next_cursor?: string };
      seen.push(...page.jobs.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(await admin.call("GET", "/dlq/jobs?state=ended")).toMatchObject({
      body: { jobs: [{ state: "cancelled" }] },
    });
  });

  it("a purge is taken back as long as its entries are kept", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries(7));
    const { id } = await begun(admin, PURGE);
    expect((await until(admin, id, "completed")).progress).toMatchObject({ succeeded: 7 });
    expect(await admin.ids()).toEqual([]);
    expect((await admin.call("POST", `/dlq/jobs/${id}/undo`)).status).toBe(202);
    expect((await until(admin, id, "undone")).progress).toMatchObject({ restored: 7, present: 0 });
    expect(await admin.ids()).toHaveLength(7);
    expect((await until(admin, id, "undone")).progress).toMatchObject({ step: { index: 1, of: 1, size: 7, done: 7 } });
    const erased = await begun(admin, { ...PURGE, undo_within: "0s" });
    await until(admin, erased.id, "completed");
    expect(await admin.call("POST", `/dlq/jobs/${erased.id}/undo`)).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/^the entries were erased at \d{4}-/) as string, reason: "too_late" },
    });
  });

  it("operators 12.4: what a caller may do is asked by kind; a purge of everything needs dlq.purge", async () => {
    await using admin = await startAdmin({ keys: KEYS });
    const as = (name: string) => shown(keyOf(name));
    expect(await admin.call("POST", "/dlq/jobs", REDRIVE, as("viewer"))).toMatchObject({
      status: 403,
      body: { reason: "permission", needs: "dlq.redrive" },
    });
    expect(await admin.call("POST", "/dlq/jobs", { ...PURGE, filter: {} }, as("alice"))).toMatchObject({
      status: 403,
      body: { error: 'the key "alice" may not do this: it needs dlq.purge', reason: "permission" },
    });
    expect((await admin.call("POST", "/dlq/jobs", { ...REDRIVE, filter: {} }, as("alice"))).status).toBe(201);
    expect(await admin.call("POST", "/dlq/jobs", { ...REDRIVE, binding_id: "alarms" }, as("alice"))).toMatchObject({
      status: 403,
      body: { needs: "dlq.edit" },
    });
    const { id } = await planned(admin, PURGE);
    expect(await admin.call("POST", `/dlq/jobs/${id}/cancel`, undefined, as("viewer"))).toMatchObject({
      status: 403,
      body: { needs: "dlq.delete" },
    });
    expect((await admin.call("GET", `/dlq/jobs/${id}`, undefined, as("viewer"))).status).toBe(200);
  });

  it("finding 5: addresses of a plan are for callers with payload.read, whatever the call answers with", async () => {
    await using admin = await startAdmin({ keys: KEYS });
    await keep(admin, ...entries(2));
    const addresses = ({ body }: Answer) =>
      (body as { readonly plan: { readonly sample: readonly { readonly address?: string }[] } }).plan.sample.map(
        ({ address }) => address,
      );
    const { id } = await planned(admin);
    const as = (name: string) => shown(keyOf(name));
    expect(addresses(await admin.call("GET", `/dlq/jobs/${id}`))).toEqual(["out", "out"]);
    expect(addresses(await admin.call("GET", `/dlq/jobs/${id}`, undefined, as("alice")))).toEqual(["out", "out"]);
    const none = [undefined, undefined];
    expect(addresses(await admin.call("GET", `/dlq/jobs/${id}`, undefined, as("viewer")))).toEqual(none);
    expect(addresses(await admin.call("POST", "/dlq/jobs", REDRIVE, as("redriver")))).toEqual(none);
    expect(addresses(await admin.call("PATCH", `/dlq/jobs/${id}`, { rate: 3 }, as("redriver")))).toEqual(none);
    expect(addresses(await admin.call("POST", `/dlq/jobs/${id}/cancel`, undefined, as("redriver")))).toEqual(none);
  });

  it("a store that cannot hold jobs says so, and an unknown job", async () => {
    await using readOnly = await startAdmin({ store: "read-only" });
    expect(await readOnly.call("GET", "/dlq/jobs")).toMatchObject({
      status: 404,
      body: { error: "the DLQ store cannot do that" },
    });
    await using admin = await startAdmin();
    expect(await admin.call("POST", "/dlq/jobs/none/pause")).toMatchObject({
      status: 404,
      body: { error: "job not found" },
    });
  });

  it("operators 3.1: a job whose document is cut off, or has wrong types, is shown as failed; no call changes it, and all others go on", async () => {
    await using admin = await startAdmin();
    const signal = AbortSignal.timeout(20_000);
    const jobs = admin.supervisor.dlq()?.jobs;
    const { id: plannedId } = await planned(admin);
    const kept = await jobs?.get(plannedId, signal);
    if (kept === undefined) throw new Error("the job is not there");
    const { document } = kept;
    const damaged = [
      document.slice(0, document.length / 2),
      "",
      document.replace('"warnings":[]', '"warnings":5'),
      document.replace(/"createdAt":\d+/, '"createdAt":"noon"'),
    ];
    for (const [nth, text] of damaged.entries()) {
      const job = { ...kept, id: `d${nth}`, document: text.replace(kept.id, `d${nth}`) };
      await jobs?.put(job, undefined, signal);
      expect(await admin.call("GET", `/dlq/jobs/${job.id}`)).toMatchObject({ status: 200, body: { state: "failed" } });
      for (const { method, path, body } of JOB_CALLS.filter(
        ({ path: at, method: by }) => /\{id\}/.test(at) && by !== "GET",
      ))
        expect(await admin.call(method, path.replace("{id}", job.id), body)).toMatchObject({
          status: 409,
          body: { reason: method === "PATCH" ? "ended" : "state" },
        });
    }
    const { body } = await admin.call("GET", "/dlq/jobs");
    const listed = (body as { readonly jobs: readonly JobBody[] }).jobs.map(({ id, state }) => [id, state]);
    expect(listed).toEqual(
      expect.arrayContaining([...damaged.map((_, nth) => [`d${nth}`, "failed"]), [kept.id, "planned"]]),
    );
    await until(admin, (await begun(admin)).id, "completed");
  });

  it.each(JOB_CALLS)("$method $path is recorded as $action", async ({ method, path, body, action, ...rest }) => {
    const { status = 200, outcome = "success" } = rest;
    await using admin = await startAdmin();
    const { id, plan } = await planned(admin);
    const before = admin.events.length;
    const sent = body !== undefined && "plan_hash" in body ? { plan_hash: plan.hash } : body;
    expect((await admin.call(method, path.replace("{id}", id), sent)).status).toBe(status);
    const begins = method === "GET" || action === "dlq.job.plan" ? [] : [[`${action}.begin`, "pending"]];
    expect(admin.events.slice(before).map((event) => [event.action, event.outcome])).toEqual([
      ...begins,
      [action, outcome],
    ]);
  });
});

const WORKS = new Set(["running", "waiting"]);

describe("operators 3.5.8: every state and every call, over the admin server", () => {
  it("calls in any order are answered as the table says", { timeout: 120_000 }, async () => {
    await using admin = await startAdmin();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("start", "pause", "resume", "cancel", "undo", "change"), { maxLength: 7 }),
        async (calls) => {
          // So slow, and so many of them, that it does not end by itself.
          await keep(admin, ...entries(20));
          const { id, plan } = await planned(admin, { ...REDRIVE, rate: 0.1, ramp: [] });
          let state = "planned";
          for (const call of calls) {
            const [method, path] = call === "change" ? ["PATCH", ""] : ["POST", `/${call}`];
            const body = call === "change" ? { rate: 0.1 } : call === "start" ? { plan_hash: plan.hash } : undefined;
            const { status } = await admin.call(method ?? "", `/dlq/jobs/${id}${path}`, body);
            const [expected, next] = answerTo(state, call);
            expect([state, call, status]).toEqual([state, call, expected]);
            state = next;
            if (state !== "running") await until(admin, id, state);
          }
          if (state !== "cancelled") await admin.call("POST", `/dlq/jobs/${id}/cancel`);
          await until(admin, id, "cancelled");
        },
      ),
      { numRuns: 12 },
    );
  });
});

function answerTo(state: string, call: string): readonly [number, string] {
  const works = WORKS.has(state);
  if (call === "change") return [state === "cancelled" ? 409 : 200, state];
  if (call === "undo") return [409, state];
  if (call === "cancel") return [202, "cancelled"];
  if (call === "start") return state === "planned" ? [202, "running"] : [works ? 202 : 409, state];
  if (call === "pause") return works ? [202, "paused"] : [state === "paused" ? 202 : 409, state];
  return state === "paused" ? [202, "running"] : [works ? 202 : 409, state];
}
