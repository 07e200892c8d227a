/** Pieces of an open file. */
export interface Pieces {
  /** Its handle. */
  readonly file: number;
  /** How long each of them is. */
  readonly bytes: number;
  /** Where they begin. */
  readonly at: readonly number[];
}

/** What changes whenever somebody writes to a file. */
export interface Stamp {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  /** This one nobody can set back, as `cp -p` and `rsync -t` do with the other. */
  readonly ctimeNs: bigint;
}

/** What pieces of files held. */
export interface Reading {
  /** Of the first file, before it was read. */
  readonly stamp: Stamp;
  /** Of each of its pieces, and of those of the other files, as far as there are any. */
  readonly digests: readonly (readonly number[])[];
}

/** Its text runs in a worker, too: it may use nothing of this module but types. */
export function readPieces(all: readonly Pieces[]): Reading {
  const { fstatSync, readSync } = process.getBuiltinModule("node:fs");
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const { size, mtimeNs, ctimeNs } = fstatSync(all[0]?.file ?? -1, { bigint: true });
  const digests = all.map(({ file, bytes, at }) => {
    const piece = Buffer.alloc(bytes);
    return at.map((from) => crc32(piece.subarray(0, readSync(file, piece, 0, bytes, from))));
  });
  return { stamp: { size, mtimeNs, ctimeNs }, digests };
}
