export { BoundedServer, type BoundedServerOptions, type ListenerStats, type ServerLimits } from "./bounded-server.ts";
export { type ClientMemory } from "./client-memory.ts";
export { sameTlsFiles, type TlsFiles } from "./tls-files.ts";
