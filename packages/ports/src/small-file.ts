import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";

// Opening a named pipe would otherwise wait for somebody to write into it, and keep the process from ending.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The content of a regular file of at most `maxBytes`.
 * @throws Error when it is another kind of thing, a pipe or a device, or longer; the platform's, with its `code`
 */
export async function readSmallFile(path: string, maxBytes: number): Promise<Buffer> {
  await using handle = await open(path, FLAGS);
  demandSmall(await handle.stat(), maxBytes);
  const room = roomFor(maxBytes);
  for (let size = 0; ;) {
    const { bytesRead } = await handle.read(room, size);
    size += bytesRead;
    if (size > maxBytes) throw tooLong(maxBytes);
    if (bytesRead === 0) return Buffer.from(room.subarray(0, size));
  }
}

/** {@link readSmallFile}, in this turn. */
export function readSmallFileSync(path: string, maxBytes: number): Buffer {
  const file = openSync(path, FLAGS);
  try {
    demandSmall(fstatSync(file), maxBytes);
    const room = roomFor(maxBytes);
    for (let size = 0; ;) {
      const read = readSync(file, room, size, room.length - size, null);
      size += read;
      if (size > maxBytes) throw tooLong(maxBytes);
      if (read === 0) return Buffer.from(room.subarray(0, size));
    }
  } finally {
    closeSync(file);
  }
}

function demandSmall(stats: Stats, maxBytes: number): void {
  if (!stats.isFile()) throw new Error("it is no file");
  if (stats.size > maxBytes) throw tooLong(maxBytes);
}

/** One byte more, so that what grows while it is read is noticed. */
function roomFor(maxBytes: number): Buffer {
  return Buffer.allocUnsafe(maxBytes + 1);
}

function tooLong(maxBytes: number): Error {
  return new Error(`it has more than ${maxBytes} bytes`);
}
