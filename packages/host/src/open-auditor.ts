import { type Auditor, createAuditor, logSink } from "@bridge/audit";
import { openFileSink } from "@bridge/audit/file";
import type { AuditSection } from "@bridge/config";
import type { Seams } from "@bridge/ports";
import type { HostProcess } from "./host-process.ts";
import { openLog } from "./log.ts";
import { messageOf } from "./message-of.ts";

/**
 * The auditor with the sinks that the configuration names; they stay until the process ends.
 * @throws Error naming the field when the audit file cannot be used
 */
export async function openAuditor(
  { log, file }: AuditSection,
  seams: Seams,
  stderr: HostProcess["stderr"],
  veil: (text: string) => string,
): Promise<Auditor> {
  // Audit events are no diagnostics: they are logged whatever the level of the log is.
  const logger = openLog(stderr, "info", veil);
  const sinks = log ? [logSink(logger)] : [];
  if (file === undefined) return createAuditor({ ...seams, sinks });
  try {
    return createAuditor({ ...seams, sinks: [...sinks, await openFileSink({ ...file, clock: seams.clock, logger })] });
  } catch (error) {
    throw new Error(`the audit file (audit.file.path): ${messageOf(error)}`, { cause: error });
  }
}
