import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { orAborted } from "@bridge/ports/internal";
import { textOf } from "./text-of.ts";

const CHUNK_BYTES = 64 * 1024;

/** The file is not there. */
export class MissingFileError extends Error {}

// Opening a named pipe would otherwise wait for somebody to write into it.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The text of a regular file of at most `maxBytes`.
 * @throws MissingFileError when it is not there; Error with words for an operator when it cannot be used
 */
export async function readText(path: string, maxBytes: number, signal: AbortSignal): Promise<string> {
  return textOf(await readBytes(path, maxBytes, signal));
}

/** The bytes of such a file; throws what {@link readText} does. */
export async function readBytes(path: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  signal.throwIfAborted();
  // A disk that does not answer keeps its handle, and nobody waiting.
  return orAborted(readWhole(path, maxBytes, signal), signal);
}

async function readWhole(path: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  try {
    await using handle = await open(path, FLAGS);
    if (!(await handle.stat()).isFile()) throw new Error("it is not a regular file");
    const chunks: Uint8Array[] = [];
    for (let size = 0; ;) {
      signal.throwIfAborted();
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES));
      if (bytesRead === 0) return Buffer.concat(chunks);
      size += bytesRead;
      if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    if (code === "ENOENT") throw new MissingFileError("it is not there", { cause: error });
    throw code === undefined ? error : new Error(`it cannot be read (${code})`, { cause: error });
  }
}
