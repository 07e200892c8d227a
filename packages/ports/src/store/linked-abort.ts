/** A controller that also aborts, with the same reason, when another signal does; disposing it unties the two. */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;

  constructor(parent: AbortSignal) {
    this.#parent = parent;
    if (parent.aborted) this.#follow();
    else parent.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#parent.removeEventListener("abort", this.#follow);
  }

  readonly #follow = (): void => this.#controller.abort(this.#parent.reason);
}
