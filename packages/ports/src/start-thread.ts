import { realpathSync } from "node:fs";
import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a thread.
 *
 * @throws Error when the process can have no more threads, or its working directory is gone, without which Node starts none
 */
export function startThread(program: URL, options: WorkerOptions): Worker {
  try {
    // Asks the system.
    realpathSync.native(".");
  } catch (error) {
    const why = `the working directory of this process${formerly()} is gone: start the process again, in a folder that stays`;
    throw new Error(why, { cause: error });
  }
  return new Worker(program, options);
}

/** Node remembers what it was, if it was asked before. */
function formerly(): string {
  try {
    return `, ${JSON.stringify(process.cwd())},`;
  } catch {
    return "";
  }
}
