export { BoundedServer, type BoundedServerOptions, type ListenerStats, type ServerLimits } from "./bounded-server.ts";
export { ClientMemory, type Holder, processClientMemory } from "./client-memory.ts";
export { connectionOf } from "./connection.ts";
export { sameTlsFiles, type TlsFiles } from "./tls-files.ts";
