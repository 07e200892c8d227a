/** What a program without a network is told. */
export interface EngineJob {
  /** The most messages held unacknowledged at once. */
  readonly window: number;
  readonly size: number;
  /** When a send is accepted: in the next microtask, or together with all others at the end of the turn. */
  readonly accept: "microtask" | "turn";
}

export function engineJob(): EngineJob {
  return JSON.parse(process.argv[2] ?? "") as EngineJob;
}
