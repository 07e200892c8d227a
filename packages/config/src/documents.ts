/**
 * For documents beside the configuration, such as what a program is started with: schemas of its kind, read as strictly
 * and published in the same form. @module
 */
export { checkStrictly, type StrictlyChecked } from "./check/check-strictly.ts";
export { documentReference } from "./published/document-reference.ts";
export { hostAndPort, meet } from "./rules/listening.ts";
export { browserSessions } from "./schema/browser-sessions.ts";
export { corsOrigins } from "./schema/cors-origins.ts";
export { id, optionalId } from "./schema/id.ts";
export { listenAddress } from "./schema/listen-address.ts";
