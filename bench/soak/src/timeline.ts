/** Something that was done, by the wall clock in epoch milliseconds. */
export interface Happening {
  readonly at: number;
  readonly until: number;
  readonly what: string;
}

/** What follows from a trouble may come this long after it. */
const AFTERMATH_MS = 3_000;

/** All that was done to the bridges, in the order in which it began. */
export class Timeline {
  readonly all: Happening[] = [];

  /** Enters what `act` does, from its beginning to its end. */
  async during<Result>(what: string, act: () => Promise<Result>): Promise<Result> {
    const at = Date.now();
    const index = this.all.push({ at, until: Number.POSITIVE_INFINITY, what }) - 1;
    try {
      return await act();
    } finally {
      this.all[index] = { at, until: Date.now(), what };
    }
  }

  /** What was going on then, or just before. */
  around(at: number): readonly string[] {
    return this.all.filter((one) => one.at <= at && at <= one.until + AFTERMATH_MS).map(({ what }) => what);
  }
}
