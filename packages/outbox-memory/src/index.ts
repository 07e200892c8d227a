export { type MemoryOutboxOptions, openMemoryOutbox } from "./open-memory-outbox.ts";
export { memoryOutboxPlugin } from "./memory-outbox-plugin.ts";
export { memoryOutbox } from "./memory-outbox.ts";
export type * from "./option-types.ts";
