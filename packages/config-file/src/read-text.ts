import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** The file is not there. */
export class MissingFileError extends Error {}

// Opening a named pipe would otherwise wait for somebody to write into it.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The text of a regular file of at most `maxBytes`.
 * @throws MissingFileError when it is not there; Error with words for an operator when it cannot be used
 */
export async function readText(path: string, maxBytes: number, signal: AbortSignal): Promise<string> {
  const bytes = await readBytes(path, maxBytes, signal);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("it is not text in UTF-8");
  }
}

async function readBytes(path: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  signal.throwIfAborted();
  try {
    await using handle = await open(path, FLAGS);
    if (!(await handle.stat()).isFile()) throw new Error("it is not a regular file");
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false, end: maxBytes, signal })) {
      chunks.push(chunk as Uint8Array);
      size += (chunk as Uint8Array).length;
    }
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return Buffer.concat(chunks);
  } catch (error) {
    signal.throwIfAborted();
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    if (code === "ENOENT") throw new MissingFileError("it is not there", { cause: error });
    throw code === undefined ? error : new Error(`it cannot be read (${code})`, { cause: error });
  }
}
