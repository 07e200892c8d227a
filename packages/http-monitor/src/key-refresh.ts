/** What is known of keys of the servers that a process reads again and again from where they are kept. */
export interface KeyRefresh {
  /** Epoch milliseconds: when they were last read as they are in force. */
  readonly lastRefreshAt: number;
  /** How often they could not be read, since the start. */
  readonly failures: number;
  /** Why not, the last time; absent while they can. */
  readonly lastError?: string | undefined;
}
