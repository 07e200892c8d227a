/** One thing that a suite demands of its subject. */
export interface Case<Name extends string = string> {
  readonly name: Name;
  /** Rejects when the subject does not do it, or has not when `signal` aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** What has to hold of a subject that is excused from the case; absent when nothing has. */
  readonly runExcused?: (signal: AbortSignal) => Promise<void>;
}

/** The cases that a subject need not pass, each with a written reason. */
export type Excuses<Name extends string> = { readonly [name in Name]?: string };
