export type NumberType = "counter" | "gauge" | "untyped";

/** A metric: one name, one meaning, one set of label names. */
export type Family = NumberFamily | HistogramFamily;

interface Described {
  /** In the base unit that the name ends with: seconds, bytes. */
  readonly name: string;
  readonly help: string;
}

export interface NumberFamily extends Described {
  readonly type: NumberType;
  /** Read anew each time that they are gone through. */
  readonly samples: Iterable<Sample>;
}

export interface HistogramFamily extends Described {
  readonly type: "histogram";
  /** Read anew each time that they are gone through. */
  readonly samples: Iterable<HistogramSample>;
}

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** How many observations there were of each size, since the process started. */
export interface HistogramSample {
  readonly labels: Labels;
  /** Upper bounds of the buckets, each included, ascending; the same for all samples of a family. */
  readonly bounds: readonly number[];
  /** How many observations each bucket has, the ones below it not among them; one more than bounds, for the rest. */
  readonly counts: readonly number[];
  readonly sum: number;
}
