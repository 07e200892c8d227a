/** Parts of one kind, by their `partKey`, of which several routes may use one. */
export class SharedParts<Part> {
  readonly all = new Map<string, Part>();
  readonly #atWork: (key: string) => Part | undefined;

  /** @param atWork - a part that is at work and stays as it is */
  constructor(atWork: (key: string) => Part | undefined) {
    this.#atWork = atWork;
  }

  /** The one that there is already, else the one at work, else what `make` makes. */
  of(key: string, make: () => Part): Part {
    const part = this.all.get(key) ?? this.#atWork(key) ?? make();
    this.all.set(key, part);
    return part;
  }
}
