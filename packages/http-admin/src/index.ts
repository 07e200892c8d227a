export {
  type AdminKey,
  type AdminKeys,
  type Authenticate,
  type Caller,
  type Permission,
  PERMISSIONS,
  type Role,
  ROLES,
} from "@bridge/http-kit";
export { type AdminAppOptions, createAdminApp, type SessionsOfBrowsers } from "./admin-app.ts";
export type { RedactOptions } from "./redaction.ts";
