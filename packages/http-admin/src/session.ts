import { type Caller, HttpError, PERMISSIONS, ROLES } from "@bridge/http-kit";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";

const PATH = "/api/v1/admin/session";
const ROLE_NAMES = Object.keys(ROLES) as (keyof typeof ROLES)[];

const session = v.object({
  actor: v.pipe(v.string(), v.description("What audit events call you.")),
  role: v.optional(v.pipe(v.picklist(ROLE_NAMES), v.description("Absent: your permissions are those of no role."))),
  permissions: v.pipe(v.array(v.picklist(PERMISSIONS)), v.description("What you may do.")),
  expires_at: v.pipe(
    v.optional(v.pipe(v.string(), v.metadata({ format: "date-time" }))),
    v.description("When your session ends at the latest, however much you do. Absent: you have shown a key."),
  ),
  instance_id: v.optional(v.pipe(v.string(), v.description("Who answers. Absent: the process has no bridge yet."))),
  version: v.pipe(v.optional(v.string()), v.description("Of the program that answers. Absent: it does not say.")),
});

export interface SessionEndpointsOptions {
  readonly bridge: BridgeAccess;
  readonly version: string | undefined;
  /** Whether a browser may have a session in place of a key. */
  readonly hasSessions: boolean;
}

/** Who the caller is to the server, so that a page shows no button that would be refused; and sessions for such pages. */
export function sessionEndpoints({ bridge, version, hasSessions }: SessionEndpointsOptions): readonly AdminEndpoint[] {
  const who = ({ name, role, permissions }: Caller, endsAt: number | undefined): v.InferOutput<typeof session> => ({
    actor: name,
    ...(role !== undefined && { role }),
    permissions: [...permissions],
    ...(endsAt !== undefined && { expires_at: formatTimestamp(endsAt) }),
    ...(bridge.instanceId !== "" && { instance_id: bridge.instanceId }),
    ...(version !== undefined && { version }),
  });
  const read = endpoint({
    method: "GET",
    path: PATH,
    access: "admin",
    needs: "any",
    audit: "session.read",
    summary: "Who you are to this server, and what you may do.",
    answers: { 200: { description: "You.", schema: session } },
  }).handle(({ caller, session: own }) => ({ status: 200, body: who(caller, own?.endsAt) }));
  if (!hasSessions) return [read];

  const guard = (): void => void bridge.supervisor;
  const refusals = { 503: "The process has no bridge yet." };
  const create = endpoint({
    method: "POST",
    path: PATH,
    access: "admin",
    needs: "any",
    byKeyOnly: true,
    audit: "session.create",
    begin: { action: "session.create.begin" },
    summary: "Begins a session of a browser: a cookie in place of your key.",
    guard,
    refusals,
    answers: { 201: { description: "You. The cookie is in `Set-Cookie`.", schema: session } },
  }).handle(({ caller, session: own }) => {
    const { endsAt, headers } = begun(own).begin(caller.name);
    return { status: 201, body: who(caller, endsAt), headers };
  });
  const end = endpoint({
    method: "DELETE",
    path: PATH,
    access: "admin",
    needs: "any",
    audit: "session.end",
    begin: { action: "session.end.begin" },
    summary: "Ends the session whose cookie comes along, and takes the cookie away.",
    guard,
    refusals,
    answers: { 200: { description: "It has ended.", schema: v.object({ status: v.literal("ended") }) } },
  }).handle(({ session: own }) => ({ status: 200, body: { status: "ended" }, headers: begun(own).end() }));
  return [read, create, end];
}

/** @throws HttpError when the rows are there and the server has none */
function begun<Own>(own: Own | undefined): Own {
  if (own === undefined) throw new HttpError(503, "runtime not available");
  return own;
}
