import type { Job, Jobs } from "@bridge/core";
import { type Caller, HttpError } from "@bridge/http-kit";
import type { Permission } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { filterToWire } from "./dlq-filter.ts";
import {
  askedJob,
  changeBody,
  changeFromWire,
  orderFromWire,
  planBody,
  type PlanBody,
  resumeBody,
  startBody,
} from "./job-bodies.ts";
import { jobCursor, readJobCursor } from "./job-cursor.ts";
import { job, jobSummary } from "./job-schemas.ts";
import { JOB_PERMISSIONS, neededFor } from "./job-permissions.ts";
import type { Redaction } from "./redaction.ts";
import { jobSummaryToWire, jobToWire, settingsToWire } from "./job-wire.ts";
import { LIMITS } from "./limits.ts";
import { pageQuery } from "./values.ts";

const KEY_HEADER = "Idempotency-Key";
const CURSOR_MESSAGE = "is not one of this list";

const STORE_REFUSALS = {
  404: "There is no DLQ store, or it cannot do that.",
  503: "The DLQ store is not open, or cannot be used.",
} as const;
const JOB_REFUSALS = { ...STORE_REFUSALS, 404: "There is no such job, or no DLQ store that can hold jobs." } as const;
const STATE_REFUSAL = "It is not possible from where the job stands; `reason` says why.";

const listQuery = v.object({
  state: v.optional(
    v.pipe(
      v.picklist(["active", "ended"], "expected active or ended"),
      v.description("Only those that are over, or not."),
    ),
  ),
  limit: v.optional(pageQuery("jobs").limit.wrapped, `${LIMITS.jobsDefault}`),
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.description("The `next_cursor` of the page before."),
      v.check((cursor) => readJobCursor(cursor) !== undefined, CURSOR_MESSAGE),
    ),
  ),
});

/** Redrives and purges of many entries at once: jobs, also while the bridge is stopped (operators 3). */
export function dlqJobEndpoints(bridge: BridgeAccess, redaction: Redaction): readonly AdminEndpoint[] {
  const shown = (told: Job, caller: Caller) => {
    const { bindings } = bridge.supervisor.config();
    const showsAddresses =
      caller.permissions.includes("payload.read") &&
      bindings.every(({ address }) => redaction.showsAddress(address, caller));
    return jobToWire(told, showsAddresses);
  };
  const done = (changed: Job, caller: Caller) => ({
    status: 202 as const,
    body: shown(changed, caller),
    audit: { detail: factsOf(changed) },
  });
  const guard = (): void => {
    void bridge.dlq;
    bridge.supervisor.jobs().check();
  };
  // Each step has a bound of its own, and a plan of a slow store takes several.
  const asked = <Result>(work: (jobs: Jobs, signal: AbortSignal) => Promise<Result>): Promise<Result> =>
    bridge.looking("DLQ", (signal) => work(bridge.supervisor.jobs(), signal), bridge.operationTimeoutMs);
  const ofOne = (call: Parameters<typeof neededFor>[0]) => ({
    access: "admin" as const,
    needs: "any" as const,
    mayNeed: JOB_PERMISSIONS,
    resourceId: ({ id }: { readonly id: string }) => id,
    params: { id: "The id of the job." },
    guard,
    admit: async ({ id }: { readonly id: string }, mustHave: (permission: Permission) => void) => {
      const found = await asked((jobs, signal) => jobs.facts(id, signal));
      for (const permission of neededFor(call, found)) mustHave(permission);
    },
  });
  const accepted = { 202: { description: "The job; `requested` is what has not been done yet.", schema: job } };

  return [
    endpoint({
      method: "POST",
      path: "/api/v1/admin/dlq/jobs",
      access: "admin",
      needs: "any",
      needsFor: JOB_PERMISSIONS.map((permission) => ({
        permission,
        when: (body: PlanBody) => neededFor("plan", askedJob(body)).includes(permission),
      })),
      audit: "dlq.job.plan",
      summary: "Plans a job: counts, samples and predicts what it would do, and does nothing.",
      guard,
      body: planBody,
      requestHeaders: {
        [KEY_HEADER]: "The same key, caller and body within a day stand for the same job; at most 128 characters.",
      },
      refusals: {
        ...STORE_REFUSALS,
        409: "So many jobs are active already, or its route is in another one; `reason` says which.",
        422: "The key came with another body before.",
      },
      answers: {
        200: { description: "The job that came of this key before.", schema: job },
        201: { description: "The job, with its plan.", schema: job },
      },
    }).handle(async ({ body, actor, caller, header }) => {
      const key = header(KEY_HEADER);
      if (key !== undefined && (key === "" || key.length > LIMITS.idempotencyKey))
        throw new HttpError(400, `${KEY_HEADER}: expected 1 to ${LIMITS.idempotencyKey} characters`);
      const { job: planned, created } = await asked((jobs, signal) =>
        jobs.plan(orderFromWire(body, actor, key), signal),
      );
      const { hash, total } = planned.plan;
      const detail = {
        ...factsOf(planned),
        filter: filterToWire(planned.query),
        reason: planned.reason,
        plan_hash: hash,
        total,
        ...settingsToWire(planned.settings),
      };
      return { status: created ? 201 : 200, body: shown(planned, caller), audit: { detail } };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/dlq/jobs",
      access: "admin",
      audit: "dlq.job.list",
      summary: "The jobs, newest first, without their plans.",
      guard,
      query: listQuery,
      refusals: STORE_REFUSALS,
      answers: {
        200: {
          description: "A page of them.",
          schema: v.object({ jobs: v.array(jobSummary), next_cursor: v.optional(v.string()) }),
        },
      },
    }).handle(async ({ query: { state, limit, cursor } }) => {
      const request = {
        states: state,
        limit: Math.min(limit, LIMITS.jobsMax),
        after: cursor === undefined ? undefined : readJobCursor(cursor),
      };
      const { jobs, more } = await asked((all, signal) => all.list(request, signal));
      const last = jobs.at(-1);
      const next = more && last !== undefined ? { next_cursor: jobCursor(last) } : {};
      return { status: 200, body: { jobs: jobs.map(jobSummaryToWire), ...next } };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/dlq/jobs/{id}",
      access: "admin",
      audit: "dlq.job.read",
      resourceId: ({ id }) => id,
      params: { id: "The id of the job." },
      summary: "One job with its plan, how far it is, and what has failed.",
      guard,
      refusals: JOB_REFUSALS,
      answers: { 200: { description: "The job.", schema: job } },
    }).handle(async ({ params: { id }, caller }) => {
      const found = await asked((jobs, signal) => jobs.get(id, signal));
      return { status: 200, body: shown(found, caller) };
    }),

    endpoint({
      ...ofOne("change"),
      method: "PATCH",
      path: "/api/v1/admin/dlq/jobs/{id}",
      audit: "dlq.job.change",
      begin: { action: "dlq.job.change.begin", detail: (body) => ({ ...body }) },
      summary: "Changes how fast a job goes and when it halts; in force within a second.",
      body: changeBody,
      refusals: { ...JOB_REFUSALS, 409: "The job is over, or is being cancelled or undone." },
      answers: { 200: { description: "The job.", schema: job } },
    }).handle(async ({ params: { id }, body, caller }) => {
      const changed = await asked((jobs, signal) => jobs.change(id, changeFromWire(body), signal));
      return {
        status: 200,
        body: shown(changed, caller),
        audit: { detail: { ...factsOf(changed), ...settingsToWire(changed.settings) } },
      };
    }),

    endpoint({
      ...ofOne("start"),
      method: "POST",
      path: "/api/v1/admin/dlq/jobs/{id}/start",
      audit: "dlq.job.start",
      begin: { action: "dlq.job.start.begin", detail: ({ plan_hash }) => ({ plan_hash }) },
      summary: "Starts what was planned.",
      body: startBody,
      refusals: { ...JOB_REFUSALS, 409: STATE_REFUSAL },
      answers: accepted,
    }).handle(async ({ params: { id }, body, caller }) => {
      const request = { planHash: body.plan_hash, acceptChangedConfig: body.accept_changed_config };
      return done(await asked((jobs, signal) => jobs.start(id, request, signal)), caller);
    }),

    endpoint({
      ...ofOne("pause"),
      method: "POST",
      path: "/api/v1/admin/dlq/jobs/{id}/pause",
      audit: "dlq.job.pause",
      begin: { action: "dlq.job.pause.begin" },
      summary: "Begins nothing more; what is in flight settles.",
      refusals: { ...JOB_REFUSALS, 409: STATE_REFUSAL },
      answers: accepted,
    }).handle(async ({ params: { id }, caller }) =>
      done(await asked((jobs, signal) => jobs.ask(id, { call: "pause" }, signal)), caller),
    ),

    endpoint({
      ...ofOne("resume"),
      method: "POST",
      path: "/api/v1/admin/dlq/jobs/{id}/resume",
      audit: "dlq.job.resume",
      begin: { action: "dlq.job.resume.begin", detail: (body) => ({ ...body }) },
      summary: "Lets a job go on that is paused or has halted.",
      body: resumeBody,
      refusals: { ...JOB_REFUSALS, 409: STATE_REFUSAL },
      answers: accepted,
    }).handle(async ({ params: { id }, body, caller }) => {
      const retry = body?.retry_failed === true ? ({ retryFailed: true } as const) : {};
      return done(await asked((jobs, signal) => jobs.ask(id, { call: "resume", ...retry }, signal)), caller);
    }),

    endpoint({
      ...ofOne("cancel"),
      method: "POST",
      path: "/api/v1/admin/dlq/jobs/{id}/cancel",
      audit: "dlq.job.cancel",
      begin: { action: "dlq.job.cancel.begin" },
      summary: "Ends a job; what it has done stays done.",
      refusals: { ...JOB_REFUSALS, 409: STATE_REFUSAL },
      answers: accepted,
    }).handle(async ({ params: { id }, caller }) =>
      done(await asked((jobs, signal) => jobs.ask(id, { call: "cancel" }, signal)), caller),
    ),

    endpoint({
      ...ofOne("undo"),
      method: "POST",
      path: "/api/v1/admin/dlq/jobs/{id}/undo",
      audit: "dlq.job.undo",
      begin: { action: "dlq.job.undo.begin" },
      summary: "Takes a purge back, as long as its entries are kept.",
      refusals: { ...JOB_REFUSALS, 409: STATE_REFUSAL },
      answers: accepted,
    }).handle(async ({ params: { id }, caller }) =>
      done(await asked((jobs, signal) => jobs.ask(id, { call: "undo" }, signal)), caller),
    ),
  ];
}

/** For audit records. */
function factsOf({ id, kind, state, requested }: Job) {
  return { job_id: id, kind, state, ...(requested !== undefined && { requested: requested.call }) };
}
