/** Parts of one kind, by `partKey`, which several routes may share. */
export class SharedParts<Part> {
  readonly all = new Map<string, Part>();
  readonly #atWork: (key: string) => Part | undefined;

  /** @param atWork - returns the part at work, if it stays unchanged */
  constructor(atWork: (key: string) => Part | undefined) {
    this.#atWork = atWork;
  }

  /** Returns the part made before, else the one at work, else makes it. */
  of(key: string, make: () => Part): Part {
    const part = this.all.get(key) ?? this.#atWork(key) ?? make();
    this.all.set(key, part);
    return part;
  }
}
