export { fileOutbox } from "./outbox/file-outbox.ts";
export { type FileOutboxOptions, openFileOutbox } from "./outbox/open-file-outbox.ts";
export { type WindowLimits } from "./outbox/window.ts";
export type * from "./outbox/option-types.ts";
