/** What SQLite writes into a write-ahead log: https://www.sqlite.org/walformat.html */

export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
/** Its last bit says in which byte order the checksums are. */
const MAGIC = 0x377f0682;
const VERSION = 3_007_000;
/** Of the header, and of the header of a frame, what the checksum covers. */
const SUMMED_OF_HEADER = 24;
const SUMMED_OF_FRAME = 8;

/** The two halves of a checksum that runs through a log. */
export type Checksum = readonly [number, number];

export interface LogHeader {
  readonly bigEndian: boolean;
  readonly pageSize: number;
  /** Random, and others each time the log begins anew: what else is in it is left from before. */
  readonly salts: readonly [number, number];
  readonly checksum: Checksum;
}

/** The header of a log; `undefined` when SQLite would take the log for an empty one. */
export function logHeaderOf(start: Buffer): LogHeader | undefined {
  if (start.length < LOG_HEADER_BYTES || (start.readUInt32BE(0) & ~1) !== MAGIC) return undefined;
  const bigEndian = (start.readUInt32BE(0) & 1) === 1;
  const pageSize = start.readUInt32BE(8);
  const checksum: Checksum = [start.readUInt32BE(24), start.readUInt32BE(28)];
  const sum = summed(start.subarray(0, SUMMED_OF_HEADER), [0, 0], bigEndian);
  if (start.readUInt32BE(4) !== VERSION || !isSame(sum, checksum)) return undefined;
  return { bigEndian, pageSize, salts: [start.readUInt32BE(16), start.readUInt32BE(20)], checksum };
}

/** One page as a transaction has left it. */
export interface Frame {
  readonly page: number;
  /** Whether it is the last one of its transaction. */
  readonly commits: boolean;
  readonly salts: readonly [number, number];
  readonly checksum: Checksum;
}

export function frameOf(bytes: Buffer): Frame {
  return {
    page: bytes.readUInt32BE(0),
    commits: bytes.readUInt32BE(4) !== 0,
    salts: [bytes.readUInt32BE(8), bytes.readUInt32BE(12)],
    checksum: [bytes.readUInt32BE(16), bytes.readUInt32BE(20)],
  };
}

/** What the checksum of a frame has to be behind a frame with the checksum `before`. */
export function checksumOfFrame(bytes: Buffer, before: Checksum, bigEndian: boolean): Checksum {
  const sum = summed(bytes.subarray(0, SUMMED_OF_FRAME), before, bigEndian);
  return summed(bytes.subarray(FRAME_HEADER_BYTES), sum, bigEndian);
}

export function isSame(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

function summed(bytes: Buffer, [first, second]: Checksum, bigEndian: boolean): Checksum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [a, b] = [first | 0, second | 0];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + view.getInt32(at, !bigEndian) + b) | 0;
    b = (b + view.getInt32(at + 4, !bigEndian) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}
