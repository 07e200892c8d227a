export { clientTlsSchema, readClientTls, type ClientIdentity, type ClientTls } from "./client-tls.ts";
export { Inbox } from "./inbox.ts";
export { networkError } from "./network-error.ts";
