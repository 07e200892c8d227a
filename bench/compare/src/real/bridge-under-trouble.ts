import { setTimeout as sleep } from "node:timers/promises";
import type { Bridge } from "../../../torture/src/parts/bridge.ts";

const STOP_TIMEOUT_MS = 40_000;

/** The processes of one bridge, one after another; troubles that meet each other find none. */
export class BridgeUnderTrouble {
  /** Ends that nobody asked for, and one that did not come. */
  readonly ends: string[] = [];
  readonly #bridge: Bridge;
  /** It has ended by a trouble, or is about to. */
  #ending = false;

  constructor(bridge: Bridge) {
    this.#bridge = bridge;
  }

  start(): void {
    this.#ending = false;
    void this.#bridge.start().then((ending) => {
      if (!this.#ending) this.ends.push(`the bridge has ended by itself, with ${ending}`);
    });
  }

  async kill(forMs: number): Promise<void> {
    this.#ending = true;
    await this.#bridge.kill();
    await sleep(forMs);
    this.start();
  }

  async stop(forMs: number): Promise<void> {
    await this.end();
    await sleep(forMs);
    this.start();
  }

  async freeze(forMs: number): Promise<void> {
    this.#bridge.pause();
    await sleep(forMs);
    this.#bridge.resume();
  }

  /** Asks it to end, and waits for that; one that does not is killed. */
  async end(): Promise<void> {
    this.#ending = true;
    try {
      await this.#bridge.stop(STOP_TIMEOUT_MS);
    } catch (error) {
      this.ends.push((error as Error).message);
      await this.#bridge.kill();
    }
  }
}
