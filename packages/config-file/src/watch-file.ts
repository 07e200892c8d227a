import { type Clock, type ConfigChange, type Logger } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { Content } from "./content.ts";
import { PathNotices } from "./path-notices.ts";

export interface WatchSettings {
  /** `poll`: only by looking; `notify`: also when the operating system tells of something. */
  readonly mode: "notify" | "poll";
  /** How often the bridge looks, in either mode. */
  readonly pollIntervalMs: number;
  /** How long a change must have settled before it is told. */
  readonly debounceMs: number;
}

/** What a watch has told, or need not tell. */
export interface Watched {
  seen: string | undefined;
}

interface WatchOptions {
  readonly path: string;
  readonly watched: Watched;
  readonly settings: () => WatchSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly read: () => Promise<Content>;
  /** Called before a content of this identity is told. */
  readonly told: (identity: string) => void;
  readonly ended: () => void;
  readonly signal: AbortSignal;
}

/** Tells what a file holds, whenever that differs from `watched.seen` and has settled. Ends when `signal` aborts. */
export async function* watchFile(options: WatchOptions): AsyncGenerator<ConfigChange> {
  const { path, watched, settings, clock, logger, signal } = options;
  using notices = new PathNotices(logger);
  try {
    // What is there when a watch begins of which nobody has seen anything is no change.
    watched.seen ??= (await options.read()).identity;
    while (!signal.aborted) {
      const { mode, pollIntervalMs } = settings();
      const noticed = notices.next();
      notices.follow(mode === "notify" ? path : undefined);
      const content = await settled(options);
      if (content === undefined) await either(noticed, clock, pollIntervalMs, signal);
      else yield changeOf(content);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    options.ended();
  }
}

/** What is there now and was not seen, once it has stayed the same for a while. */
async function settled({ watched, settings, clock, read, told, signal }: WatchOptions): Promise<Content | undefined> {
  let content = await read();
  while (content.identity !== watched.seen) {
    const { debounceMs } = settings();
    const former = content;
    if (debounceMs > 0) {
      await clock.delay(debounceMs, signal);
      content = await read();
    }
    if (content.identity === former.identity && content.identity !== watched.seen) {
      watched.seen = content.identity;
      told(content.identity);
      return content;
    }
  }
  return undefined;
}

async function either(noticed: Promise<void>, clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const bound = AbortSignal.any([signal, over.signal]);
  try {
    await orAborted(Promise.race([noticed, clock.delay(ms, bound)]), signal);
  } finally {
    over.abort();
  }
}

function changeOf(content: Content): ConfigChange {
  switch (content.kind) {
    case "missing":
      return { kind: "missing" };
    case "unreadable":
      return { kind: "unreadable", error: content.error };
    case "stored":
      return { kind: "changed", stored: content.stored };
  }
}
