export { type AdminKeys, namedAdminKeys } from "./admin-keys.ts";
export { type AuditTrail, type AuthAction, type CallRecord } from "./audit-trail.ts";
export { type Detail, type Endpoint, type EndpointFactory, endpointFor } from "./endpoint.ts";
export { HttpError } from "./http-error.ts";
export { createKeyring, isKeyring, type Keyring, type NamedKey } from "./keyring.ts";
export { listen, type ListenOptions } from "./listen.ts";
export { type FetchApp, type Listener } from "./listener.ts";
export { serve, type ServeOptions } from "./serve.ts";
export { type ThrottleOptions } from "./throttle.ts";
