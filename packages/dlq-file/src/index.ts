export { type FileDlqOptions, openFileDlq } from "./open-file-dlq.ts";
export { fileDlq } from "./file-dlq.ts";
export type * from "./option-types.ts";
