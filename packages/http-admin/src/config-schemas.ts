/**
 * What configuration transactions are asked and answer. @module
 */
import { overlayJsonSchema } from "@bridge/config";
import * as v from "valibot";
import { moreOfLists, moreParts } from "./config-page.ts";
import { LIMITS } from "./limits.ts";
import { bodyDuration, prose } from "./values.ts";

const version = v.pipe(v.number(), v.integer(), v.minValue(0), v.description("The configuration's `config_version`."));
const time = v.pipe(v.string(), v.metadata({ format: "date-time" }));
const config = v.pipe(v.record(v.string(), v.unknown()), v.description("Redacted, without plugin options."));

const problem = v.object({
  path: v.pipe(v.string(), v.description("Such as `routes[0].policy`; empty for the whole.")),
  message: v.string(),
});

const change = v.object({
  path: v.pipe(v.string(), v.description("Such as `routes[alarms].policy.max_in_flight`.")),
  before: v.pipe(v.optional(v.unknown()), v.description("Absent when it is new.")),
  after: v.pipe(v.optional(v.unknown()), v.description("Absent when it is gone.")),
});

const transaction = { txn_id: v.string(), version, created_at: time, expires_at: time };

export const probation = v.object({
  version,
  former_version: v.pipe(version, v.description("What comes back.")),
  confirm_by: v.pipe(time, v.description("Until when it has to be confirmed.")),
  guard: v.optional(
    v.object({
      level: v.optional(v.string()),
      level_for_ms: v.optional(v.number()),
      failure_ratio: v.optional(v.number()),
      min_sends: v.optional(v.number()),
    }),
  ),
});

export const currentConfig = v.object({
  version,
  config,
  more: moreParts,
  probation: v.pipe(v.optional(probation), v.description("What runs here is taken back unless it is confirmed.")),
});

const reason = prose("Why, for whoever reads the history or the audit log.", LIMITS.reasonLength);

const guard = v.pipe(
  v.strictObject({
    level: v.pipe(
      v.optional(v.picklist(["running", "connected", "subscribed", "full"])),
      v.description("The readiness level that has to be held."),
    ),
    level_for: v.optional(
      bodyDuration("How long on end it may be missed. Default: not at all.", {
        max: LIMITS.confirmWithinMaxMs,
        problem: "must be at most 1h",
      }),
    ),
    failure_ratio: v.pipe(
      v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
      v.description("Of the sends of the routes that the change restarts or adds: how many may fail."),
    ),
    min_sends: v.pipe(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      v.description("Before so many sends their failures count for nothing. Default: 1."),
    ),
  }),
  v.check(
    ({ level, failure_ratio: ratio }) => level !== undefined || ratio !== undefined,
    "guards nothing: give level or failure_ratio",
  ),
  v.forward(
    v.check(
      ({ level, level_for: during }) => level !== undefined || during === undefined,
      "needs level, which is to be held",
    ),
    ["level_for"],
  ),
  v.forward(
    v.check(
      ({ failure_ratio: ratio, min_sends: sends }) => ratio !== undefined || sends === undefined,
      "needs failure_ratio, which may not be exceeded",
    ),
    ["min_sends"],
  ),
  v.description("Takes the change back before its time, from 10 s after it is in force."),
);

export const commitBody = v.optional(
  v.pipe(
    v.strictObject({
      confirm_within: v.optional(
        bodyDuration("The change is taken back unless it is confirmed within this time.", {
          min: LIMITS.confirmWithinMinMs,
          max: LIMITS.confirmWithinMaxMs,
          problem: "must be at least 10s and at most 1h",
        }),
      ),
      reason: v.optional(reason),
      guard: v.optional(guard),
    }),
    v.check(
      ({ confirm_within: within, guard: given }) => within !== undefined || given === undefined,
      "guard needs confirm_within",
    ),
  ),
  {},
);

/** What is in the way, for people and for programs. */
export const conflicting = v.object({
  error: v.string(),
  reason: v.optional(v.picklist(["probation", "no_probation", "reverted", "not_running"])),
});

export const confirmBody = v.strictObject({ version });
export const revertBody = v.strictObject({ version, reason });

export const configDocument = v.object({
  version,
  revision: v.pipe(v.string(), v.description("Of exactly this text and its secrets.")),
  format: v.picklist(["yaml", "json"]),
  text: v.pipe(v.string(), v.description("As people wrote it; secrets that stand in it are `[REDACTED]`.")),
  redacted: v.pipe(v.number(), v.integer(), v.description("How many values are `[REDACTED]`.")),
});

export const documentBody = v.strictObject({
  text: v.pipe(
    v.string(),
    v.description(
      "A whole document. `[REDACTED]` stands for what the document as it is read shows as that in the same place.",
    ),
  ),
});

export const openBody = v.optional(
  v.strictObject({
    ttl: v.optional(
      bodyDuration("How long the transaction is open, such as `10m`; at most 30m.", {
        min: 1,
        max: LIMITS.ttlMaxMs,
        problem: "must be longer than 0s and at most 30m",
      }),
      "5m",
    ),
    from_version: v.pipe(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
      v.description("Begins with the document of this version, which `available` in the history says is kept."),
    ),
  }),
  {},
);

export const opened = v.object({ ...transaction, config, more: moreOfLists, moreParts });
export const inspected = v.object({
  ...transaction,
  patch_count: v.pipe(v.number(), v.integer()),
  preview: v.pipe(config, v.description("What a commit would make of the configuration.")),
  more: moreParts,
});

/** Decoded by the engine, which knows what a configuration is. */
export const overlay = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>((value) => typeof value === "object", "expected an object"),
  v.description("A part of a configuration, without plugin options; what is empty or left out keeps its value."),
  v.metadata({ type: "object", ...overlayJsonSchema() }),
);

export const patched = v.object({
  txn_id: v.string(),
  preview: config,
  more: moreParts,
  validation_errors: v.pipe(
    v.optional(v.array(problem)),
    v.description("What a commit would be refused for; another PATCH can mend it."),
  ),
  warnings: v.optional(v.array(problem)),
});

const ids = v.array(v.string());
const parts = v.object({ added: ids, removed: ids, restarted: ids, kept: ids });

export const stranded = v.object({
  store: v.picklist(["outbox", "dlq"]),
  route_id: v.pipe(v.optional(v.string()), v.description("Of the outbox: whose records they are.")),
  binding_id: v.optional(v.string()),
  waiting: v.pipe(
    v.optional(v.pipe(v.number(), v.integer())),
    v.description("How many. Absent: the store cannot tell now, or is not open here."),
  ),
  waiting_capped: v.pipe(v.optional(v.literal(true)), v.description("There are at least so many.")),
});

const plan = v.pipe(
  v.optional(
    v.object({
      unchanged: v.boolean(),
      routes: parts,
      sessions: parts,
      stores: v.pipe(ids, v.description("The roles of stores that are closed and opened again.")),
      in_place: v.pipe(ids, v.description("Taken over while everything keeps running.")),
      restart_required: v.pipe(ids, v.description("In force only after a restart of the process.")),
      more: moreOfLists,
    }),
  ),
  v.description("What would be restarted. Absent when a commit would be refused, which `validate` explains."),
);

export const configDiff = v.object({
  version: v.pipe(version, v.description("That would be changed.")),
  changes: v.array(change),
  text: v.pipe(
    v.optional(v.string()),
    v.description("A unified diff of the redacted texts. Absent when the configuration is kept where no texts are."),
  ),
  more_lines: v.pipe(v.optional(v.number()), v.description("So many lines come after those of `text`.")),
  plan,
  warnings: v.array(problem),
});

export const validated = v.object({
  txn_id: v.string(),
  valid: v.pipe(v.boolean(), v.description("Whether a commit would be refused for nothing.")),
  erased_options: v.pipe(ids, v.description("Options that it would be refused for, as they would mean nothing.")),
  validation_errors: v.array(problem),
  conflict: v.pipe(v.boolean(), v.description("Another hand has changed the stored configuration.")),
  stranded: v.pipe(
    v.optional(v.array(stranded)),
    v.description("What it would be refused for, because nobody would deliver or see it any more."),
  ),
  more: moreOfLists,
  warnings: v.array(problem),
  changes: v.array(change),
  plan,
});

export const confirmed = v.object({ status: v.literal("committed"), version });
export const committed = v.variant("status", [
  confirmed,
  v.object({
    status: v.literal("probation"),
    version,
    former_version: v.pipe(version, v.description("What comes back unless it is confirmed.")),
    confirm_by: time,
  }),
]);
export const reverted = v.object({ status: v.literal("rolled_back"), version });
export const committedApplying = v.object({ status: v.literal("committed_applying"), version });
export const commitRefused = v.object({
  error: v.string(),
  validation_errors: v.optional(v.array(problem)),
  stranded: v.pipe(
    v.optional(v.array(stranded)),
    v.description("Messages that the change would leave where nobody delivers or sees them."),
  ),
  more: moreOfLists,
});
/** Also what an unexpected error is answered with, which has no status. */
export const commitFailed = v.object({
  status: v.optional(v.picklist(["rolled_back", "committed_not_applied"])),
  version: v.pipe(v.optional(v.number()), v.description("The version that is stored now.")),
  error: v.string(),
});

export const rolledBack = v.object({ status: v.literal("rolled_back") });

export const configHistory = v.object({
  versions: v.array(
    v.object({
      version,
      committed_at: time,
      actor: v.pipe(v.string(), v.description("The name of the admin key.")),
      changes: v.array(change),
      available: v.pipe(v.boolean(), v.description("Whether a transaction can begin with its document.")),
      pending: v.pipe(
        v.optional(v.literal(true)),
        v.description("It is stored, and nobody knows it to have run, or it is on probation."),
      ),
      reverted: v.pipe(
        v.optional(v.object({ at: time, why: v.string(), detail: v.optional(v.string()) })),
        v.description("It was taken back."),
      ),
    }),
  ),
});
