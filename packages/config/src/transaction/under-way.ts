/** What changes configurations here, the last of it begun, for whoever else applies them to wait for. */
export class UnderWay {
  #work: Promise<unknown> | undefined;

  get work(): Promise<unknown> | undefined {
    return this.#work;
  }

  async during<Result>(begin: () => Promise<Result>): Promise<Result> {
    const work = (this.#work = begin());
    try {
      return await work;
    } finally {
      if (this.#work === work) this.#work = undefined;
    }
  }
}
