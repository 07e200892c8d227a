/** What is disposed together, the last first; `AsyncDisposableStack` for the Node versions that lack it. */
export class Disposables implements AsyncDisposable {
  readonly #parts: AsyncDisposable[] = [];

  use<Part extends AsyncDisposable>(part: Part): Part {
    this.#parts.push(part);
    return part;
  }

  /** Disposes each, whatever becomes of the others. @throws what the first to fail throws, or an AggregateError of several */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await part[Symbol.asyncDispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 1) throw new AggregateError(failures, "several parts could not be disposed");
    if (failures.length > 0) throw failures[0];
  }
}
