import { type Break, Chain, type ChainOptions, type Merger, type Resumed } from "./chain.ts";
import { linesOf } from "./lines.ts";
import { readRecord } from "./record.ts";

export type { Break } from "./chain.ts";

export interface VerifyOptions extends ChainOptions {
  /** Gives up when it aborts, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Verification {
  /** In the order of their records. */
  readonly files: readonly { readonly path: string; readonly first: number; readonly last: number }[];
  readonly records: number;
  /** The hash of the last record. */
  readonly head: string;
  readonly resumed: readonly Resumed[];
  readonly merged: readonly Merger[];
  /** The last line was not written to its end: a crash, or somebody, cut it off. */
  readonly torn: { readonly file: string; readonly bytes: number } | undefined;
  readonly break: Break | undefined;
}

/**
 * Holds the records of a chain against their hashes, up to the first break. The files may be given in any order; those
 * before the oldest one given need not be there any more, if it says that a file begins with its first record, and not that
 * they were taken away. A record that says that some before it are gone counts as a break where nothing else is one.
 *
 * Rejects when a file cannot be read.
 */
export async function verifyFiles(paths: readonly string[], options: VerifyOptions = {}): Promise<Verification> {
  const chain = new Chain(options);
  const files: { path: string; first: number; last: number }[] = [];
  for (const path of await inOrder(paths)) {
    const file = { path, first: 0, last: 0 };
    for await (const line of linesOf(path)) {
      options.signal?.throwIfAborted();
      const seq = chain.add(path, line);
      if (chain.break !== undefined) break;
      if (seq === undefined) continue;
      file.first ||= seq;
      file.last = seq;
    }
    files.push(file);
    if (chain.break !== undefined) break;
  }
  chain.end();
  const { records, head, resumed, merged, torn } = chain;
  return { files, records, head, resumed, merged, torn, break: chain.break };
}

/** By the number of the first record of each. */
async function inOrder(paths: readonly string[]): Promise<readonly string[]> {
  const starts = await Promise.all(paths.map(async (path) => ({ path, first: await firstSeq(path) })));
  return starts.toSorted((a, b) => a.first - b.first).map(({ path }) => path);
}

/** `Infinity` when there is none. */
export async function firstSeq(path: string): Promise<number> {
  for await (const { bytes } of linesOf(path)) {
    const record = readRecord(bytes);
    if (record !== undefined) return record.seq;
  }
  return Infinity;
}
