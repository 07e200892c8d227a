import { Child } from "../../../src/harness/child.ts";
import type { Hindrance } from "../auditor/doubt.ts";
import type { AuditorJob, EndPorts, Ingests, Standing } from "../auditor/job.ts";
import type { Judgement, Whereabouts } from "../auditor/judge.ts";

const PROGRAM = new URL("../auditor/main.ts", import.meta.url);
const ANSWER_TIMEOUT_MS = 30_000;

/** The auditor, in its own process. */
export class Auditor implements AsyncDisposable {
  readonly #child: Child;

  private constructor(child: Child) {
    this.#child = child;
  }

  static async start(job: AuditorJob): Promise<Auditor> {
    return new Auditor(await Child.start({ program: PROGRAM, job }));
  }

  /** Opens a tap before each of these ports; returns those that lead through the taps. */
  tap(ports: EndPorts): Promise<EndPorts> {
    return this.#ask("tap", ports);
  }

  /** From now on it knows what arrives. */
  watch(): Promise<void> {
    return this.#ask("watch");
  }

  /** From now on it offers messages, those over HTTP to these ports. */
  offer(ingests: Ingests): Promise<void> {
    return this.#ask("offer", ingests);
  }

  /** No new messages. */
  enough(): Promise<void> {
    return this.#ask("enough");
  }

  /** The bridge is about to be killed. */
  dying(): Promise<void> {
    return this.#ask("dying");
  }

  hinder(hindrance: Hindrance, on: boolean): Promise<void> {
    return this.#ask("hinder", { hindrance, on });
  }

  standing(): Promise<Standing> {
    return this.#ask("standing");
  }

  judge(where: Whereabouts): Promise<Judgement> {
    return this.#ask("judge", where);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]();
  }

  #ask<Answer>(name: string, argument?: unknown): Promise<Answer> {
    return this.#child.ask<Answer>(name, argument, ANSWER_TIMEOUT_MS);
  }
}
