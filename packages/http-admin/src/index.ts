export { type Authenticate, type Caller, type Permission, PERMISSIONS } from "@bridge/http-kit";
export { type AdminAppOptions, createAdminApp } from "./admin-app.ts";
