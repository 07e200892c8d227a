/** Serves requests one at a time, in the order in which they come. */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(request: () => Promise<T>): Promise<T> {
    const served = this.#tail.then(request);
    this.#tail = served.catch(() => {});
    return served;
  }
}
