/** A statement with its values apart, so that no value is ever a part of the text. */
export interface Statement {
  /** For errors: what it does, such as `reading a lease`. */
  readonly what: string;
  readonly text: string;
  /** For `$1`, `$2` and so on. */
  readonly values?: readonly unknown[];
  /** Names it, so that each connection parses it once. Default: it is parsed each time. */
  readonly name?: string;
  /**
   * Whether a try without an answer in time ends the call, because its caller asks for less the next time. Default: it is
   * tried again, with more time.
   */
  readonly endsWhenLate?: boolean;
  /**
   * Whether a try without an answer in time ends the call and is no fault: its caller has something else to do then. Default: it
   * is tried again, and told.
   */
  readonly mayBeLate?: boolean;
  /**
   * Of a write upon whose answer the only other copy is let go: refused while it is known that it would not outlast a crash of
   * the server. Default: it is made.
   */
  readonly lasting?: boolean;
  /** Whether it has its turn before others that wait for a connection. Default: they have theirs in the order of asking. */
  readonly goesFirst?: boolean | undefined;
  /**
   * Of a write that changes no row when what it writes is there already: asks for that row. Without one the server has kept
   * nothing of what it took, which is a fault of its tables. Default: a write may change no row.
   */
  readonly proof?: { readonly text: string; readonly values: readonly unknown[] };
}

export interface Answer<Row> {
  readonly rows: readonly Row[];
  /** Rows that it has returned or changed. */
  readonly count: number;
  /**
   * An earlier try of this very statement got no answer and may have been made, so what this one met may be one's own
   * work: look. Where it is false, the statement was made once.
   */
  readonly unsure: boolean;
}

/** Makes statements one after another, as part of a transaction. */
export interface Transaction {
  query<Row extends object>(statement: Omit<Statement, "what">): Promise<Omit<Answer<Row>, "unsure">>;
}
