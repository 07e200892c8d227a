/**
 * The side of the benchmark's own processes: answers what the harness asks. Loaded before every program that is measured,
 * so that the programs themselves need not know of being measured. @module
 */

/** A question of the harness. */
export interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

/** What the harness is told: that the program is ready, or the answer to a question. */
export type Message =
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly error: string };

/** What a process has used since it began. */
export interface Usage {
  /** CPU milliseconds of all threads, in user and system mode. */
  readonly cpuMs: number;
  /** The largest resident set, sampled. */
  readonly peakRssBytes: number;
}

const SAMPLE_MS = 100;

const handlers = new Map<string, (argument: never) => unknown>();

/** Answers questions of this name. */
export function answer(name: string, handler: (argument: never) => unknown): void {
  handlers.set(name, handler);
}

/** Tells the harness that the program can be measured now. */
export function ready(): void {
  tell({ kind: "ready" });
}

let peakRssBytes = 0;

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
  return { cpuMs: (user + system) / 1_000, peakRssBytes };
}

async function reply({ id, name, argument }: Question): Promise<void> {
  try {
    const handler = handlers.get(name);
    if (handler === undefined) throw new Error(`nobody answers "${name}"`);
    tell({ kind: "answer", id, answer: await handler(argument as never) });
  } catch (error) {
    tell({ kind: "failure", id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function tell(message: Message): void {
  process.send?.(message);
}

if (process.send !== undefined) {
  answer("usage", usage);
  setInterval(usage, SAMPLE_MS).unref();
  process.on("message", (question: Question) => void reply(question));
  // Nothing outlives the harness, however it ends; a profile is written on the way out.
  process.on("disconnect", () => process.exit());
}
