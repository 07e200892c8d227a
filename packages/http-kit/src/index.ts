export { type AdminKey, type AdminKeys, namedAdminKeys } from "./admin-keys.ts";
export { type AuditTrail, type AuthAction, type CallRecord } from "./audit-trail.ts";
export { type Detail, type Endpoint, type EndpointFactory, endpointFor } from "./endpoint.ts";
export {
  EventStream,
  type EventStreamOptions,
  type StreamEvent,
  streamAnswer,
  type StreamRow,
} from "./event-stream.ts";
export { HttpError } from "./http-error.ts";
export { createKeyring, type KeyHolder, type Keyring, keyringOf, type NamedKey } from "./keyring.ts";
export { listen, type ListenOptions } from "./listen.ts";
export { decodeLine } from "./decode.ts";
export { LINES_TYPE, type LinesSent, LineStream, type LineStreamOptions } from "./line-stream.ts";
export { type FetchApp, type Listener } from "./listener.ts";
export { type Authenticate, type Caller } from "./own-authentication.ts";
export { PartedBody, type PartedBodyOptions } from "./parted-body.ts";
export { type Permission, PERMISSIONS, type Role, ROLES } from "@bridge/ports/internal";
export type { Said, Sent } from "@bridge/ports/internal";
export { showable } from "./showable.ts";
export { serve, type ServedApp, type ServedCounts, type ServeOptions } from "./serve.ts";
export { type SessionOptions } from "./session/sessions.ts";
export { type StreamCount } from "./streams.ts";
export { type ThrottleOptions } from "./throttle.ts";
