/** Time, as a dependency, so that tests need not wait. */
export interface Clock {
  /** Epoch milliseconds: for stamps that people and other machines read. */
  now(): number;
  /** Milliseconds that never jump: for measuring how long something took. */
  monotonic(): number;
  /**
   * Milliseconds of processor time that this process has used, in which no other process counts. Absent: what something has used is
   * taken to be as long as it took.
   */
  cpu?(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts. Leaves no timer or listener behind. */
  delay(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `tick` every `ms` until disposed. Does not keep the process alive. */
  every(ms: number, tick: () => void): Disposable;
  /** Calls `fire` once after `ms`, unless it is disposed before. Keeps the process alive until then. */
  after(ms: number, fire: () => void): Disposable;
  /** Calls `run` in a turn of the event loop to come; who asks first is called first. */
  turn(run: () => void): void;
}

/** Randomness, as a dependency. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A new id, unique across processes and restarts: at least 64 bits of it are random. */
  id(): string;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log. A line is a constant sentence and fields; payloads, header values and secrets are never fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}

/** Says nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/** What every part of the bridge is given instead of reaching for globals. */
export interface Seams {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}
