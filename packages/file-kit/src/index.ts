export { FileDatabase, type FileDatabaseOptions } from "./file-database.ts";
export { FileFault } from "./file-fault.ts";
export { type FileKind } from "./file-kind.ts";
export { lockFile, tryLockFile } from "./file-lock.ts";
export { makeFolder, syncFolder } from "./folder.ts";
export { type Job } from "./transaction.ts";
export { untilSliceEnds } from "./until-slice-ends.ts";
