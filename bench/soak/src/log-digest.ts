import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Happening } from "./timeline.ts";

/** Lines of one level that say the same. */
interface Sentence {
  readonly level: string;
  readonly message: string;
  readonly lines: number;
}

/** The log of one bridge, so that a person can read it. */
export interface LogDigest {
  readonly lines: number;
  readonly levels: Readonly<Record<string, number>>;
  /** The most frequent first. */
  readonly sentences: readonly Sentence[];
  /** Lines that show a stack, and those that are no JSON: neither is for an operator. The first ones, and how many. */
  readonly stacks: readonly string[];
  readonly withStack: number;
  /** For each kind of happening: how often it was, and how many lines were written from its beginning until just after its end. */
  readonly happenings: readonly { readonly what: string; readonly times: number; readonly lines: number }[];
}

const MAX_SENTENCES = 200;
const MAX_STACKS = 10;
const MAX_LINE = 2_000;
/** Lines that follow from something come this long after it. */
const AFTERMATH_S = 3;
/** A frame of V8, as it stands in a line of JSON or alone. */
const FRAME = /(?:^|\\n|\n)\s+at .+[:(].+:\d+:\d+/;

export async function digestOf(path: string, happenings: readonly Happening[]): Promise<LogDigest> {
  return digest(createInterface({ input: createReadStream(path), crlfDelay: Infinity }), happenings);
}

export async function digest(
  lines: AsyncIterable<string> | Iterable<string>,
  happenings: readonly Happening[],
): Promise<LogDigest> {
  const levels: Record<string, number> = {};
  const sentences = new Map<string, { level: string; message: string; lines: number }>();
  const stacks: string[] = [];
  const perSecond = new Map<number, number>();
  let [count, withStack] = [0, 0];
  for await (const line of lines) {
    if (line === "") continue;
    count++;
    const { level, message, time } = read(line);
    levels[level] = (levels[level] ?? 0) + 1;
    const key = `${level} ${message}`;
    const sentence = sentences.get(key);
    if (sentence !== undefined) sentence.lines++;
    else if (sentences.size < MAX_SENTENCES) sentences.set(key, { level, message, lines: 1 });
    if (level === "none" || FRAME.test(line)) {
      withStack++;
      if (stacks.length < MAX_STACKS) stacks.push(line.slice(0, MAX_LINE));
    }
    const second = Math.floor(time / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return {
    lines: count,
    levels,
    sentences: [...sentences.values()].toSorted((one, other) => other.lines - one.lines),
    stacks,
    withStack,
    happenings: linesPer(happenings, perSecond),
  };
}

interface Line {
  readonly level: string;
  readonly message: string;
  /** Epoch milliseconds; NaN when it does not say. */
  readonly time: number;
}

function read(line: string): Line {
  try {
    const { level, msg, time } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return { level: String(level), message: String(msg), time: Date.parse(String(time)) };
  } catch {
    return { level: "none", message: line.slice(0, 120), time: Number.NaN };
  }
}

function linesPer(happenings: readonly Happening[], perSecond: ReadonlyMap<number, number>): LogDigest["happenings"] {
  const kinds = new Map<string, { what: string; times: number; lines: number }>();
  for (const { what, at, until } of happenings) {
    const kind = kinds.get(what) ?? { what, times: 0, lines: 0 };
    kinds.set(what, kind);
    kind.times++;
    for (let second = Math.floor(at / 1_000); second <= Math.floor(until / 1_000) + AFTERMATH_S; second++)
      kind.lines += perSecond.get(second) ?? 0;
  }
  return [...kinds.values()].toSorted((one, other) => other.lines / other.times - one.lines / one.times);
}
