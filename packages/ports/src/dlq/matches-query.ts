import type { DeadLetterHead, DeadLetterQuery } from "../dlq-store.ts";

/** Whether an entry is one that a query asks for. Every store answers with it what its indexes do not. */
export function matchesQuery(head: DeadLetterHead, query: DeadLetterQuery): boolean {
  const { marks } = head;
  return (
    is(head.routeId, query.routeId) &&
    is(head.category, query.category) &&
    (query.since === undefined || head.failedAt >= query.since) &&
    (query.before === undefined || head.failedAt < query.before) &&
    is(head.bindingId, query.bindingId) &&
    is(head.errorCode, query.errorCode) &&
    is(head.fingerprint, query.fingerprint) &&
    is(head.envelopeId, query.envelopeId) &&
    is(head.correlationId, query.correlationId) &&
    (query.subjectPrefix === undefined || head.subject.startsWith(query.subjectPrefix)) &&
    is(marks?.assignee ?? "", query.assignee) &&
    is(marks?.quarantined ?? false, query.quarantined) &&
    is(marks?.redrives?.jobId, query.jobId)
  );
}

function is(value: string | boolean | undefined, wanted: string | boolean | undefined): boolean {
  return wanted === undefined || value === wanted;
}
