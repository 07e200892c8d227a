import type { Place, Progress } from "./position.ts";

/**
 * How far a durable consumer has come, for the case that somebody deletes it: the one made in its place begins there. Other
 * instances take messages from it, too, so only what the server says counts: up to where everything is settled.
 */
export class SharedPosition implements Place {
  /** The server is asked again and again: what is settled after its last answer comes twice. */
  readonly inDoubt = true;
  #streamCreated = "";
  #known = false;
  #next = 1;

  handedOut(): void {}

  released(): void {}

  lost(): void {}

  resumed(progress: Progress, created: string): void {
    if (created !== this.#streamCreated) this.#next = 1;
    this.#streamCreated = created;
    this.#known = true;
    this.told(progress);
  }

  told({ ack_floor: { stream_seq: settled } }: Progress): void {
    this.#next = Math.max(this.#next, settled + 1);
  }

  in(created: string): number | undefined {
    if (!this.#known) return undefined;
    return created !== "" && created === this.#streamCreated ? this.#next : 1;
  }

  began(next: number, created: string): void {
    this.#streamCreated = created;
    this.#known = true;
    this.#next = next;
  }
}
