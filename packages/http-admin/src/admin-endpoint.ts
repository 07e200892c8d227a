import type { AuditAction } from "@bridge/audit";
import { type Endpoint, type EndpointFactory, endpointFor } from "@bridge/http-kit";

export type AdminEndpoint = Endpoint<AuditAction>;

/** A row of the admin server's table. */
export const endpoint: EndpointFactory<AuditAction> = endpointFor();
