import { open } from "node:fs/promises";
import { LOOK_BACK_BYTES } from "./tail.ts";

/**
 * Makes durable what the end of a file seems to hold, before a record follows it. After a sync that has failed the system
 * takes for written what the disk may not have, and every later sync says that all is well: a power loss would leave a hole in
 * the chain. Only what is written again is synced again.
 *
 * Rejects when the disk does not take it.
 */
export async function writeTailAgain(path: string, size: number): Promise<void> {
  // A handle that appends writes nowhere else.
  const handle = await open(path, "r+");
  try {
    const from = Math.max(0, size - LOOK_BACK_BYTES);
    const bytes = Buffer.alloc(size - from);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    for (let written = 0; written < bytesRead;)
      written += (await handle.write(bytes, written, bytesRead - written, from + written)).bytesWritten;
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
