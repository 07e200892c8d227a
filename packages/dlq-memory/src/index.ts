export { type MemoryDlq, type MemoryDlqOptions, openMemoryDlq } from "./open-memory-dlq.ts";
export { memoryDlq } from "./memory-dlq.ts";
export type * from "./option-types.ts";
