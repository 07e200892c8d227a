/** What callers send about jobs. @module */
import type { JobOrder, SettingsChange } from "@bridge/core";
import * as v from "valibot";
import { list } from "./bounded-list.ts";
import { queryFromWire } from "./dlq-filter.ts";
import { filterBody } from "./dlq-filter-body.ts";
import { LIMITS } from "./limits.ts";
import { bodyDuration, prose, text } from "./values.ts";

const DAY_MS = 24 * 3_600_000;
const RAMP_MESSAGE = "expected ascending integers";
const MAX_STEPS = 10;
const DEFAULTS = {
  redrive: { rate: 100, ramp: [1, 10, 100, 1_000] },
  purge: { rate: 5_000, ramp: [] },
  concurrency: 16,
  rampPauseMs: 5_000,
  undoWithinMs: DAY_MS,
  halt: { failureRatio: 0.1, minAttempts: 20, consecutive: 10 },
} as const;

function between(min: number, max: number, description: string) {
  const message = `expected a number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.description(description), v.minValue(min, message), v.maxValue(max, message));
}

function integerBetween(min: number, max: number, description: string) {
  const message = `expected an integer from ${min} to ${max}`;
  return v.pipe(
    v.number(message),
    v.description(description),
    v.integer(message),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}

const ramp = v.pipe(
  list(v.number(RAMP_MESSAGE), MAX_STEPS, { expected: RAMP_MESSAGE, tooMany: `has more than ${MAX_STEPS} steps` }),
  v.description(
    "Sizes of the first steps, ascending; after the last comes the rest. The failures of a step are judged by themselves, whatever `min_attempts` says.",
  ),
  v.check(
    (sizes) => sizes.every((size, nth) => Number.isSafeInteger(size) && size > (sizes[nth - 1] ?? 0)),
    RAMP_MESSAGE,
  ),
);

const halt = v.pipe(
  v.strictObject({
    failure_ratio: v.optional(
      between(
        0,
        1,
        "Of the last 200 attempts, and of a step however small, the part of failures above which it halts; 1: never.",
      ),
    ),
    min_attempts: v.optional(
      integerBetween(
        1,
        10_000,
        "Before so many attempts no ratio is looked at, but that of a step at its end: one failure halts a first step of 1.",
      ),
    ),
    consecutive: v.optional(integerBetween(0, 1_000, "Failures in a row that halt it; 0: none do.")),
  }),
  v.description("When it stops by itself."),
);

const settings = {
  rate: v.optional(between(0.1, 10_000, "Entries a second; a sender's own rate_limit holds too.")),
  concurrency: v.optional(integerBetween(1, 256, "Entries under way at once.")),
  ramp: v.optional(ramp),
  ramp_pause: v.optional(
    bodyDuration("After a step has settled, before the next one.", {
      max: 3_600_000,
      problem: "must be at most 1h",
    }),
  ),
  halt: v.optional(halt),
} as const;

const reason = prose("Why, for whoever reads of it later.", LIMITS.reasonLength);

export const changeBody = v.strictObject(settings);

export const planBody = v.pipe(
  v.strictObject({
    kind: v.picklist(["redrive", "purge"], "expected redrive or purge"),
    filter: filterBody,
    reason,
    limit: v.optional(integerBetween(1, Number.MAX_SAFE_INTEGER, "The oldest so many. Default: all.")),
    ...settings,
    binding_id: v.optional(text("Where all of them go, instead of the binding that failed.", LIMITS.idLength)),
    undo_within: v.optional(
      bodyDuration("Of a purge: how long it can be taken back. 0s: erased at once.", {
        max: 7 * DAY_MS,
        problem: "must be at most 7d",
      }),
    ),
    start: v.optional(v.pipe(v.boolean("expected true or false"), v.description("Of a redrive: starts it at once."))),
  }),
  // A list may come out empty; a job is made to do something.
  v.forward(
    v.check(
      ({ filter: { since = -Infinity, before = Infinity } }) => since < before,
      "is not before filter.before: no entry failed between them; exchange them, or leave one out",
    ),
    ["filter", "since"],
  ),
  v.forward(
    v.check(({ kind, start }) => kind === "redrive" || start !== true, "a purge is planned first"),
    ["start"],
  ),
  v.forward(
    v.check(({ kind, undo_within }) => kind === "purge" || undo_within === undefined, "only a purge is undone"),
    ["undo_within"],
  ),
  v.forward(
    v.check(({ kind, binding_id }) => kind === "redrive" || binding_id === undefined, "a purge sends nothing"),
    ["binding_id"],
  ),
  v.forward(
    v.check(
      ({ filter, binding_id }) => binding_id === undefined || filter.route_id !== undefined,
      "needs filter.route_id",
    ),
    ["binding_id"],
  ),
);

export const startBody = v.strictObject({
  plan_hash: text("Of the plan that was looked at.", LIMITS.idLength),
  accept_changed_config: v.optional(
    v.pipe(
      v.boolean("expected true or false"),
      v.description("Starts it though the configuration is another one than planned for."),
    ),
  ),
});

export const resumeBody = v.optional(
  v.strictObject({
    retry_failed: v.optional(
      v.pipe(v.boolean("expected true or false"), v.description("Tries again what has failed.")),
    ),
  }),
  {},
);

export type PlanBody = v.InferOutput<typeof planBody>;

/** What decides which permissions are needed. */
export function askedJob({ kind, filter, binding_id }: PlanBody): Pick<JobOrder, "kind" | "query" | "bindingId"> {
  return { kind, query: queryFromWire(filter), bindingId: binding_id };
}

export function orderFromWire(body: PlanBody, actor: string, idempotencyKey: string | undefined): JobOrder {
  const { kind, filter, limit, binding_id: bindingId, undo_within: undoWithinMs = DEFAULTS.undoWithinMs, start } = body;
  const { halt: halting, ...changed } = changeFromWire(body);
  return {
    kind,
    query: queryFromWire(filter),
    reason: body.reason,
    actor,
    ...(limit !== undefined && { limit }),
    ...(bindingId !== undefined && { bindingId }),
    ...(kind === "purge" && { undoWithinMs }),
    ...(start !== undefined && { start }),
    settings: {
      ...DEFAULTS[kind],
      concurrency: DEFAULTS.concurrency,
      rampPauseMs: DEFAULTS.rampPauseMs,
      ...changed,
      halt: { ...DEFAULTS.halt, ...halting },
    },
    idempotencyKey,
  };
}

/** What is given, and nothing else. */
export function changeFromWire(body: v.InferOutput<typeof changeBody>): SettingsChange {
  const { rate, concurrency, ramp: sizes, ramp_pause: rampPauseMs, halt: halting } = body;
  return {
    ...(rate !== undefined && { rate }),
    ...(concurrency !== undefined && { concurrency }),
    ...(sizes !== undefined && { ramp: sizes }),
    ...(rampPauseMs !== undefined && { rampPauseMs }),
    ...(halting !== undefined && { halt: haltFromWire(halting) }),
  };
}

function haltFromWire({ failure_ratio, min_attempts, consecutive }: v.InferOutput<typeof halt>) {
  return {
    ...(failure_ratio !== undefined && { failureRatio: failure_ratio }),
    ...(min_attempts !== undefined && { minAttempts: min_attempts }),
    ...(consecutive !== undefined && { consecutive }),
  };
}
