export { type AdminAppOptions, createAdminApp } from "./admin-app.ts";
