export { type AuditTrail, type AuthAction, type CallRecord } from "./audit-trail.ts";
export { MAX_BODY_BYTES } from "./body.ts";
export { type FetchApp, type Listener } from "./bound-server.ts";
export { type Access, type Answer, type Endpoint, endpointFor, type Reply } from "./endpoint.ts";
export { HttpError } from "./http-error.ts";
export { createKeyring, type Keyring, type NamedKey } from "./keyring.ts";
export { listen, type ListenOptions, type TlsFiles } from "./listen.ts";
export { serve, type ServeOptions } from "./serve.ts";
export { type ThrottleOptions } from "./throttle.ts";
