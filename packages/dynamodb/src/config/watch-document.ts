import type { Clock, ConfigChange, Random } from "@bridge/ports";

/** What is there at one moment. Two that are equal have the same `identity`. */
export interface Look {
  readonly identity: string;
  /** Reads what it is, which may be another one by then. */
  readonly change: (signal: AbortSignal) => Promise<{ readonly identity: string; readonly change: ConfigChange }>;
}

/** What a watch has told, or need not tell. */
export interface Watched {
  seen: string | undefined;
}

interface WatchOptions {
  readonly watched: Watched;
  readonly look: (signal: AbortSignal) => Promise<Look>;
  /** Whether what is there is being put there by ourselves, and the answer is still on its way. */
  readonly isOurs: (identity: string) => boolean;
  /** Asked before each wait. */
  readonly intervalMs: () => number;
  /** Called before something of this identity is told. */
  readonly told: (identity: string) => void;
  readonly ended: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Of the interval: so that instances which start together do not go on asking together. */
const JITTER = 0.1;

/**
 * Tells what is there, whenever that differs from `watched.seen`, by looking now and then. That nobody can look is told
 * like a document that cannot be read; what is there afterwards is told then, whether it has changed or not.
 */
export async function* watchDocument(options: WatchOptions): AsyncGenerator<ConfigChange> {
  const { intervalMs, clock, random, signal, ended } = options;
  try {
    while (!signal.aborted) {
      const change = await news(options);
      if (change === undefined) await clock.delay(intervalMs() * (1 + JITTER * (2 * random.next() - 1)), signal);
      else yield change;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ended();
  }
}

async function news({ watched, look, isOurs, told, signal }: WatchOptions): Promise<ConfigChange | undefined> {
  let { seen } = watched;
  /** What was read before we put something else there ourselves says nothing of what is there now. */
  const isNews = (identity: string): boolean => watched.seen === seen && identity !== watched.seen && !isOurs(identity);
  const tell = (identity: string, change: ConfigChange): ConfigChange | undefined => {
    if (!isNews(identity)) return undefined;
    watched.seen = identity;
    told(identity);
    return change;
  };
  try {
    const { identity, change } = await look(signal);
    // What is there when a watch begins of which nobody has seen anything is no change.
    if (watched.seen === undefined) seen = watched.seen = identity;
    if (!isNews(identity)) return undefined;
    const read = await change(signal);
    return tell(read.identity, read.change);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    return tell("out of reach", { kind: "unreadable", error });
  }
}
