/** Runs jobs one at a time, in the order in which they come. */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(job);
    this.#tail = done.catch(() => {});
    return done;
  }
}
