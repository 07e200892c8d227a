import type { AuditAction } from "@bridge/audit";
import { type Endpoint, endpointFor } from "@bridge/http-kit";

export type AdminEndpoint = Endpoint<AuditAction>;

/** A row of the admin server's table. */
export const endpoint = endpointFor<AuditAction>();
