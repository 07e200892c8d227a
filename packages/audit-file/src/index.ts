export { type FileSink, type FileSinkOptions, openFileSink } from "./file-sink.ts";
export { type Break, type Verification, verifyFiles } from "./verify.ts";
