/**
 * What the snippets of READMEs take from the program that a reader puts them into. A snippet's own import or constant
 * goes before it. @module
 */
import type { AuditEvent } from "@bridge/audit";
import type { Supervisor } from "@bridge/core";
import type { AuditTrail } from "@bridge/http-kit";
import type { Clock, DlqStore, Logger, Random, SourceMessage } from "@bridge/ports";
import type { Hono } from "hono";

declare global {
  const anotherHandle: (store: DlqStore) => Promise<DlqStore>;
  const audit: AuditTrail<string>;
  const clock: Clock;
  const key: string;
  const logger: Logger;
  const newPath: () => string;
  const openFileDlq: (path: string) => Promise<DlqStore>;
  const publishByAnotherClient: (message: SourceMessage, signal: AbortSignal) => Promise<void>;
  const random: Random;
  const reopenAbruptly: (store: DlqStore) => Promise<DlqStore>;
  const siem: { send(event: AuditEvent): Promise<void> };
  const signal: AbortSignal;
  const supervisor: Supervisor;
  const yours: Hono;
}
