import { Child } from "../../src/harness/child.ts";
import type { Balance } from "../../src/load/ledger.ts";

const PROGRAM = new URL("load.ts", import.meta.url);
const ANSWER_TIMEOUT_MS = 30_000;

export interface LoadJob {
  /** Bytes of a message. */
  readonly size: number;
}

export interface Offer {
  /** Of the source's broker. */
  readonly port: number;
  readonly perSecond: number;
  readonly messages: number;
}

/** The process that offers messages and is their target. */
export class Load implements AsyncDisposable {
  readonly #child: Child;

  private constructor(child: Child) {
    this.#child = child;
  }

  static async start(job: LoadJob): Promise<Load> {
    return new Load(await Child.start({ program: PROGRAM, job }));
  }

  /** Resolves when all have been offered. */
  offer(offer: Offer): Promise<void> {
    const usualMs = (offer.messages / offer.perSecond) * 1_000;
    return this.#child.ask("offer", offer, usualMs + ANSWER_TIMEOUT_MS);
  }

  /** There is a target, until it is closed. */
  async openTarget(port: number): Promise<void> {
    await this.#child.ask("open target", port, ANSWER_TIMEOUT_MS);
  }

  /** Breaks off what is under way; whoever tries to connect is refused from then on. */
  async closeTarget(): Promise<void> {
    await this.#child.ask("close target", undefined, ANSWER_TIMEOUT_MS);
  }

  balance(): Promise<Balance> {
    return this.#child.ask("balance", undefined, ANSWER_TIMEOUT_MS);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]();
  }
}
