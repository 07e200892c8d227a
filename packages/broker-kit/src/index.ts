export { clientTlsSchema, readClientTls, type ClientIdentity, type ClientTls } from "./client-tls.ts";
export { Inbox } from "./inbox.ts";
export { maxMessageBytes, messageTooLarge } from "./message-limit.ts";
export { networkError } from "./network-error.ts";
export { watchReading } from "./read-watch.ts";
export { GREETING_BYTES, strangerError } from "./stranger.ts";
export { splitUrl, splitUrls, type SplitUrl } from "./url-credentials.ts";
