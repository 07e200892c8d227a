/** What a program without a network is told. */
export interface EngineJob {
  /** The most messages held unacknowledged at once. */
  readonly window: number;
  readonly size: number;
  /** When a send is accepted: in the next microtask, or together with all others at the end of the turn. */
  readonly accept: "microtask" | "turn";
  /** The trace context that messages come with. Default: none. */
  readonly traceparent?: string | undefined;
  /** Absent: nothing is traced. */
  readonly tracing?: TracingJob | undefined;
}

export interface TracingJob {
  /** Of the messages that come without a trace context. */
  readonly ratio: number;
  /** Where spans go; they are not measured. */
  readonly collector: string;
}

export function engineJob(): EngineJob {
  return JSON.parse(process.argv[2] ?? "") as EngineJob;
}
