export { clientTlsSchema, readClientTls, type ClientIdentity, type ClientTls } from "./client-tls.ts";
export { Fifo } from "./fifo.ts";
export { Inbox } from "./inbox.ts";
export { networkError } from "./network-error.ts";
