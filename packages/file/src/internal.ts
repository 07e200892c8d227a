/** What others that keep things in files share with this outbox: an SQLite file, locks, folders. Not part of what versions promise. @module */
export { FileDatabase, type FileDatabaseOptions } from "./database/file-database.ts";
export { FileFault } from "./database/file-fault.ts";
export { type FileKind } from "./database/file-kind.ts";
export { lockFile, tryLockFile } from "./database/file-lock.ts";
export { makeFolder, syncFolder } from "./database/folder.ts";
export { renumber } from "./database/mend.ts";
export { obstacleAt } from "./database/obstacle.ts";
export { realPlaceOf } from "./database/real-place.ts";
export { type Job } from "./database/transaction.ts";
export { UnreadableRow } from "./database/unreadable-row.ts";
