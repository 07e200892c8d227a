export { AUDIT_ACTIONS, type AuditAction, LOOKS } from "./actions.ts";
export { type Auditor, type AuditorOptions, createAuditor } from "./auditor.ts";
export { type AuditDetail, type AuditEntry, type AuditEvent, type AuditOutcome } from "./event.ts";
export { type AuditFilter, type AuditHistory, type AuditPage, type AuditVerification } from "./history.ts";
export { type AuditSink, logSink } from "./sink.ts";
