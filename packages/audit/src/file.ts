/** The audit file: a chain of records that nobody changes unnoticed, and its verification. @module */
export { type FileSink, type FileSinkOptions, openFileSink } from "./file/file-sink.ts";
export { type Break, type Verification, verifyFiles } from "./file/verify.ts";
