import { PERMISSIONS, ROLES } from "@bridge/http-kit";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";

const ROLE_NAMES = Object.keys(ROLES) as (keyof typeof ROLES)[];

const session = v.object({
  actor: v.pipe(v.string(), v.description("What audit events call you.")),
  role: v.optional(v.pipe(v.picklist(ROLE_NAMES), v.description("Absent: your permissions are those of no role."))),
  permissions: v.pipe(v.array(v.picklist(PERMISSIONS)), v.description("What you may do.")),
  instance_id: v.optional(v.pipe(v.string(), v.description("Who answers. Absent: the process has no bridge yet."))),
});

/** Who the caller is to the server, so that a page shows no button that would be refused. */
export function sessionEndpoint(bridge: BridgeAccess): AdminEndpoint {
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/session",
    access: "admin",
    needs: "any",
    audit: "session.read",
    summary: "Who you are to this server, and what you may do.",
    answers: { 200: { description: "You.", schema: session } },
  }).handle(({ caller: { name, role, permissions } }) => {
    const { instanceId } = bridge;
    return {
      status: 200,
      body: {
        actor: name,
        ...(role !== undefined && { role }),
        permissions: [...permissions],
        ...(instanceId !== "" && { instance_id: instanceId }),
      },
    };
  });
}
