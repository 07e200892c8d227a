export { MemoryDocument } from "./memory-document.ts";
export { type MemoryConfigOptions, openMemoryConfig } from "./open-memory-config.ts";
