/**
 * What clients and servers of TLS have in common: what their files have to hold, and what a failed handshake means. @module
 */
export { outOfDate, type PemRole, whyNoPair, whyNoPem } from "./tls/pem.ts";
export { type NamedPem, type PemFiles, type Pems, readPems } from "./tls/read-pems.ts";
export { tlsFailure, type TlsOptionNames } from "./tls/tls-failure.ts";
