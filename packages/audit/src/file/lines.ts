import { createReadStream } from "node:fs";

const LINE_BREAK = 0x0a;
const CHUNK_BYTES = 1024 * 1024;
/** No record is longer; what is, is cut, and so no record. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface Line {
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  /** Whether a line break follows. */
  readonly ended: boolean;
}

/** The lines of a file, without their breaks. */
export async function* linesOf(path: string): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let waiting = 0;
  let number = 0;
  const take = (part: Buffer): Buffer => {
    const whole = rest.length === 0 ? part : Buffer.concat([...rest, part]);
    rest = [];
    waiting = 0;
    return whole;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, from)) {
      yield { bytes: take(chunk.subarray(from, end)), number: ++number, ended: true };
      from = end + 1;
    }
    if (from === chunk.length || waiting > MAX_LINE_BYTES) continue;
    rest.push(chunk.subarray(from));
    waiting += chunk.length - from;
  }
  if (waiting > 0) yield { bytes: take(Buffer.alloc(0)), number: ++number, ended: false };
}
