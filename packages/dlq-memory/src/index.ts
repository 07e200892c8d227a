export { memoryDlqPlugin } from "./memory-dlq-plugin.ts";
export { type MemoryDlqOptions, openMemoryDlq } from "./open-memory-dlq.ts";
export { memoryDlq } from "./memory-dlq.ts";
export type * from "./option-types.ts";
