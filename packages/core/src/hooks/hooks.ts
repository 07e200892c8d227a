import {
  BridgeError,
  type Clock,
  type DeadLetter,
  deadLetterHead,
  type DlqStore,
  type Envelope,
  type Logger,
} from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { SupervisorState } from "../supervisor/contract.ts";
import type { Judgement, Progress } from "../view/progress.ts";
import type { HookStats } from "../view/stats.ts";
import type {
  BridgeHooks,
  DeadLetterEvent,
  FailedAttempt,
  Hook,
  HookName,
  MessageHead,
  ProgressChange,
  StateChange,
} from "./bridge-hooks.ts";
import { HookQueue } from "./hook-queue.ts";
import { shownError } from "./shown-error.ts";

/** What still waits when the bridge is shut down has so long. */
const END_MS = 2_000;
const LOAD_MS = 10_000;

export interface HooksOptions {
  readonly hooks: BridgeHooks | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes out of texts what came in through references; asked for each event. */
  readonly veil: () => ((text: string) => string) | undefined;
  /** The open store, when there is one. */
  readonly dlq: () => DlqStore | undefined;
}

/** What a failed attempt is told with; the error as it was thrown. */
export interface AttemptFacts {
  readonly routeId: string;
  /** Empty when none had been chosen. */
  readonly bindingId: string;
  readonly received: Envelope;
  readonly error: Error;
  readonly attempt: number;
}

/** Tells the hooks of a program what happens. No call throws or waits, and without a hook it costs nothing. */
export class Hooks {
  readonly #options: HooksOptions;
  readonly #deadLetters: HookQueue<DeadLetterEvent> | undefined;
  readonly #attempts: HookQueue<FailedAttempt> | undefined;
  readonly #states: HookQueue<StateChange> | undefined;
  readonly #progress: HookQueue<ProgressChange> | undefined;

  constructor(options: HooksOptions) {
    const { hooks } = options;
    this.#options = options;
    // They may be methods, which have fields.
    this.#deadLetters = this.#queue("onDeadLetter", hooks?.onDeadLetter?.bind(hooks));
    this.#attempts = this.#queue("onAttemptFailed", hooks?.onAttemptFailed?.bind(hooks));
    this.#states = this.#queue("onState", hooks?.onState?.bind(hooks));
    this.#progress = this.#queue("onProgress", hooks?.onProgress?.bind(hooks));
  }

  /** Of the hooks that there are. */
  get stats(): readonly HookStats[] {
    return this.#queues.map(({ stats }) => stats);
  }

  deadLetter(entry: DeadLetter): void {
    if (this.#deadLetters === undefined) return;
    const head = deadLetterHead(entry);
    this.#deadLetters.offer(() => ({ ...head, load: (signal) => this.#load(head.id, signal) }));
  }

  attemptFailed({ routeId, bindingId, received, error, attempt }: AttemptFacts): void {
    if (this.#attempts === undefined) return;
    // Not the envelope, which would keep its payload for as long as the event waits.
    const message = headOf(received);
    this.#attempts.offer(() => ({
      route: routeId,
      ...(bindingId !== "" && { binding: bindingId }),
      message: { ...message, headers: { ...message.headers } },
      error: shownError(error, this.#options.veil()),
      attempt,
    }));
  }

  state(from: SupervisorState["kind"], next: SupervisorState): void {
    if (this.#states === undefined) return;
    const at = this.#options.clock.now();
    const error = next.kind === "paused" || next.kind === "terminal" ? next.error : undefined;
    this.#states.offer(() => ({
      from,
      to: next.kind,
      at,
      ...(error !== undefined && { error: shownError(error, this.#options.veil()) }),
    }));
  }

  progress(route: string, from: Progress, { progress: to, reason }: Judgement): void {
    if (this.#progress === undefined) return;
    const at = this.#options.clock.now();
    this.#progress.offer(() => {
      const veil = this.#options.veil() ?? ((text: string) => text);
      return { route, from, to, at, ...(reason !== undefined && { reason: veil(reason) }) };
    });
  }

  /** Takes nothing more, and gives the hooks a bounded time for what waits. Never rejects. */
  async end(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.end(END_MS)));
  }

  get #queues(): readonly Pick<HookQueue<never>, "stats" | "end">[] {
    return [this.#deadLetters, this.#attempts, this.#states, this.#progress].filter((queue) => queue !== undefined);
  }

  #queue<Event>(name: HookName, hook: Hook<Event> | undefined): HookQueue<Event> | undefined {
    const { clock, logger } = this.#options;
    return hook === undefined ? undefined : new HookQueue({ name, hook, clock, logger });
  }

  async #load(id: string, signal?: AbortSignal): Promise<DeadLetter | undefined> {
    const store = this.#options.dlq();
    if (store === undefined) throw new BridgeError("UNAVAILABLE", "no DLQ store is open");
    using limit = deadline(
      this.#options.clock,
      LOAD_MS,
      () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
    );
    const bounded = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
    return await orAborted(store.get(id, bounded), bounded);
  }
}

function headOf(received: Envelope): MessageHead {
  const { id, sourceId, subject, headers, contentType, correlationId, receivedAt, payload } = received;
  return { id, sourceId, subject, headers, contentType, correlationId, receivedAt, size: payload.length };
}
