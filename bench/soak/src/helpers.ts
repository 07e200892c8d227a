import { Child } from "../../src/harness/child.ts";
import type { Bridges, ProberJob, ProberReport } from "./prober/job.ts";
import type { StrangersJob, StrangersReport } from "./strangers/job.ts";

const ANSWER_TIMEOUT_MS = 30_000;

abstract class Helper<Report, Start = void> implements AsyncDisposable {
  readonly #child: Child;
  readonly #last: string;

  protected constructor(child: Child, last: string) {
    this.#child = child;
    this.#last = last;
  }

  begin(start: Start): Promise<void> {
    return this.#child.ask("begin", start, ANSWER_TIMEOUT_MS);
  }

  /** It stops, and tells what it has done. */
  enough(): Promise<Report> {
    return this.#child.ask(this.#last, undefined, ANSWER_TIMEOUT_MS);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]();
  }
}

/** Whoever asks the probes. */
export class Prober extends Helper<ProberReport, Bridges> {
  static async start(job: ProberJob): Promise<Prober> {
    return new Prober(await Child.start({ program: new URL("prober/main.ts", import.meta.url), job }), "report");
  }
}

/** Hostile messages, and clients that never read. */
export class Strangers extends Helper<StrangersReport> {
  static async start(job: StrangersJob): Promise<Strangers> {
    return new Strangers(await Child.start({ program: new URL("strangers/main.ts", import.meta.url), job }), "enough");
  }
}
