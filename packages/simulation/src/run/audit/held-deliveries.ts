import type { Owner } from "../../time/virtual-time.ts";

/** What each instance has of its source, until that takes it back. What is settled is sent no more, and need not leave. */
export class HeldDeliveries {
  readonly #byOwner = new Map<Owner, Map<number, readonly AbortSignal[]>>();

  add(owner: Owner, number: number, taken: AbortSignal): void {
    const held = this.#byOwner.get(owner) ?? new Map<number, readonly AbortSignal[]>();
    this.#byOwner.set(owner, held);
    held.set(number, [...(held.get(number) ?? []).filter(({ aborted }) => !aborted), taken]);
  }

  has(owner: Owner, number: number): boolean {
    return (
      this.#byOwner
        .get(owner)
        ?.get(number)
        ?.some(({ aborted }) => !aborted) === true
    );
  }
}
