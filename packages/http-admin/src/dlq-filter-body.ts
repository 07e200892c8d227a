import { ERROR_CODES, type ErrorCode } from "@bridge/ports";
import * as v from "valibot";
import { LIMITS } from "./limits.ts";
import { category, fingerprintValue, text, timestamp, valueOrNone } from "./values.ts";

const CODES = Object.keys(ERROR_CODES) as readonly ErrorCode[];

/** Which dead letters, as a body has it. */
export const filterBody = v.strictObject({
  route_id: v.optional(text("Only entries of this route.", LIMITS.idLength)),
  binding_id: v.optional(valueOrNone("Only entries of this binding; empty: those without one.")),
  category: v.optional(category("Only entries of this error category.")),
  error_code: v.optional(
    v.pipe(
      v.picklist(CODES, `expected one of ${CODES.join(", ")}`),
      v.description("Only entries with this error code."),
    ),
  ),
  fingerprint: v.optional(fingerprintValue("Only failures of this kind.")),
  envelope_id: v.optional(text("Only entries of the message with this id.", LIMITS.messageText)),
  correlation_id: v.optional(text("Only entries with this correlation id.", LIMITS.messageText)),
  subject_prefix: v.optional(text("Only entries whose subject begins with this.", LIMITS.messageText)),
  since: v.optional(timestamp("Only entries that failed at or after this time.")),
  before: v.optional(timestamp("Only entries that failed before this time.")),
  assignee: v.optional(valueOrNone("Only entries that this person works on; empty: those that nobody does.")),
  quarantined: v.optional(
    v.pipe(
      v.boolean("expected true or false"),
      v.description("Only entries that are kept back from redrives, or only others."),
    ),
  ),
  job_id: v.optional(text("Only entries that this job has redriven last.", LIMITS.idLength)),
});
