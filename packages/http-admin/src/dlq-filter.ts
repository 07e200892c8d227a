/**
 * Which dead letters: one filter for lists, groups, exports and jobs. @module
 */
import {
  type DeadLetterFilter,
  type DeadLetterQuery,
  ERROR_CODES,
  type ErrorClass,
  type ErrorCode,
} from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { LIMITS } from "./limits.ts";
import { category as categoryValue, filterValue, fingerprintValue, timestamp, valueOrNone } from "./values.ts";

const CODES = Object.keys(ERROR_CODES) as readonly ErrorCode[];

const SAYS = {
  route_id: "Only entries of this route.",
  binding_id: "Only entries of this binding; empty: those without one.",
  category: "Only entries of this error category.",
  error_code: "Only entries with this error code.",
  fingerprint: "Only failures of this kind.",
  envelope_id: "Only entries of the message with this id.",
  correlation_id: "Only entries with this correlation id.",
  subject_prefix: "Only entries whose subject begins with this.",
  since: "Only entries that failed at or after this time.",
  before: "Only entries that failed before this time.",
  assignee: "Only entries that this person works on; empty: those that nobody does.",
  quarantined: "Only entries that are kept back from redrives, or only others.",
  job_id: "Only entries that this job has redriven last.",
} as const;

/** The parameters of a query. */
export const FILTER_QUERY = {
  // An entry of which somebody has changed it may have a longer one, and has to be found.
  route_id: filterValue(SAYS.route_id),
  binding_id: v.optional(valueOrNone(SAYS.binding_id)),
  category: v.optional(categoryValue(SAYS.category)),
  error_code: v.optional(
    v.pipe(v.picklist(CODES, `expected one of ${CODES.join(", ")}`), v.description(SAYS.error_code)),
  ),
  fingerprint: v.optional(fingerprintValue(SAYS.fingerprint)),
  envelope_id: filterValue(SAYS.envelope_id, LIMITS.messageText),
  correlation_id: filterValue(SAYS.correlation_id, LIMITS.messageText),
  subject_prefix: filterValue(SAYS.subject_prefix, LIMITS.messageText),
  since: v.optional(timestamp(SAYS.since)),
  before: v.optional(timestamp(SAYS.before)),
  assignee: v.optional(valueOrNone(SAYS.assignee)),
  quarantined: v.optional(
    v.pipe(
      v.picklist(["true", "false"], "expected true or false"),
      v.description(SAYS.quarantined),
      v.transform((value) => value === "true"),
    ),
  ),
  job_id: filterValue(SAYS.job_id, LIMITS.idLength),
};

/** As it is decoded; times are read already. */
interface WireFilter {
  readonly route_id?: string | undefined;
  readonly binding_id?: string | undefined;
  readonly category?: ErrorClass | undefined;
  readonly error_code?: ErrorCode | undefined;
  readonly fingerprint?: string | undefined;
  readonly envelope_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly subject_prefix?: string | undefined;
  readonly since?: number | undefined;
  readonly before?: number | undefined;
  readonly assignee?: string | undefined;
  readonly quarantined?: boolean | undefined;
  readonly job_id?: string | undefined;
}

/** The four that every store has an index for. */
type PlainWireFilter = Pick<WireFilter, "route_id" | "category" | "since" | "before">;

export function filterFromWire({ route_id, category, since, before }: PlainWireFilter): DeadLetterFilter {
  return {
    ...(route_id !== undefined && { routeId: route_id }),
    ...(category !== undefined && { category }),
    ...(since !== undefined && { since }),
    ...(before !== undefined && { before }),
  };
}

export function queryFromWire(filter: WireFilter): DeadLetterQuery {
  const { binding_id, error_code, fingerprint, envelope_id, correlation_id, subject_prefix } = filter;
  const { assignee, quarantined, job_id } = filter;
  return {
    ...filterFromWire(filter),
    ...(binding_id !== undefined && { bindingId: binding_id }),
    ...(error_code !== undefined && { errorCode: error_code }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(envelope_id !== undefined && { envelopeId: envelope_id }),
    ...(correlation_id !== undefined && { correlationId: correlation_id }),
    ...(subject_prefix !== undefined && { subjectPrefix: subject_prefix }),
    ...(assignee !== undefined && { assignee }),
    ...(quarantined !== undefined && { quarantined }),
    ...(job_id !== undefined && { jobId: job_id }),
  };
}

/** Whether it asks for nothing but what `DlqStore.list` knows. */
export function isPlain(query: DeadLetterQuery): query is DeadLetterFilter {
  const { routeId: _, category: __, since: ___, before: ____, ...rest } = query;
  return Object.keys(rest).length === 0;
}

/** For audit records. */
export function filterToWire(query: DeadLetterQuery): Readonly<Record<string, string | boolean>> {
  const { routeId, category, since, before, bindingId, errorCode, fingerprint, envelopeId, correlationId } = query;
  const { subjectPrefix, assignee, quarantined, jobId } = query;
  return {
    ...(routeId !== undefined && { route_id: routeId }),
    ...(bindingId !== undefined && { binding_id: bindingId }),
    ...(category !== undefined && { category }),
    ...(errorCode !== undefined && { error_code: errorCode }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(envelopeId !== undefined && { envelope_id: envelopeId }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    ...(subjectPrefix !== undefined && { subject_prefix: subjectPrefix }),
    ...(since !== undefined && { since: formatTimestamp(since) }),
    ...(before !== undefined && { before: formatTimestamp(before) }),
    ...(assignee !== undefined && { assignee }),
    ...(quarantined !== undefined && { quarantined }),
    ...(jobId !== undefined && { job_id: jobId }),
  };
}
