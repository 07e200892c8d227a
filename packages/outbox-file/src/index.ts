export { fileOutboxPlugin } from "./file-outbox-plugin.ts";
export { type FileOutboxOptions, openFileOutbox } from "./open-file-outbox.ts";
export { type WindowLimits } from "./window.ts";
export { fileOutbox } from "./file-outbox.ts";
export type * from "./option-types.ts";
