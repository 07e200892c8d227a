import { Session } from "node:inspector/promises";

/** Which bytes of an engine's file any run has reached. */
interface File {
  readonly reached: Uint8Array;
  count: number;
}

/** Measures which parts of the engine's sources a run is the first to reach, by V8's block coverage. */
export class Reached implements Disposable {
  readonly #session = new Session();
  readonly #engine: readonly string[];
  readonly #files = new Map<string, File>();

  /** `engine`: the folders whose files count, as URLs. */
  constructor(engine: readonly string[]) {
    this.#engine = engine;
    this.#session.connect();
  }

  async begin(): Promise<void> {
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** How many bytes of source were reached since the last call, and never before. */
  async more(): Promise<number> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    let more = 0;
    for (const { url, functions } of result)
      if (this.#engine.some((folder) => url.startsWith(folder))) more += this.#add(url, functions);
    return more;
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }

  #add(url: string, functions: readonly { readonly ranges: readonly Range[] }[]): number {
    const ranges = functions.flatMap((each) => each.ranges);
    const now = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
    // V8 lists inner ranges after outer ones, so the later range holds.
    for (const { startOffset, endOffset, count } of ranges) now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    const file = this.#files.get(url) ?? { reached: new Uint8Array(1 << 18), count: 0 };
    this.#files.set(url, file);
    const before = file.count;
    for (const [index, is] of now.entries()) {
      if (is === 0 || file.reached[index] === 1) continue;
      file.reached[index] = 1;
      file.count++;
    }
    return file.count - before;
  }
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}
