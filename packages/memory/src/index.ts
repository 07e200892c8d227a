export { MemoryDocument } from "./config/memory-document.ts";
export { type MemoryConfigOptions, openMemoryConfig } from "./config/open-memory-config.ts";
export { memoryLeases } from "./lease/memory-leases.ts";
export { type MemoryLeasesOptions, openMemoryLeases } from "./lease/open-memory-leases.ts";
export type * from "./lease/option-types.ts";
export { memoryOutbox } from "./outbox/memory-outbox.ts";
export { type MemoryOutboxOptions, openMemoryOutbox } from "./outbox/open-memory-outbox.ts";
export type * from "./outbox/option-types.ts";
