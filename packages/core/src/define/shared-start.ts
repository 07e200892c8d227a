import { orAborted } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import type { Supervisor } from "../supervisor/contract.ts";
import type { SupervisorOptions } from "../supervisor/create-supervisor.ts";

/** What a supervisor is given besides its configuration and what its definition says. */
export type StartSeams = Omit<SupervisorOptions, "config" | "registry" | "hooks">;

interface Begun {
  /** Resolves when it runs; rejects when it does not, and everything is closed again. */
  readonly supervisor: Promise<Supervisor>;
  /** Of the call that began it. */
  readonly signal: AbortSignal | undefined;
  /** Gives the start up whoever waits for it. */
  readonly over: AbortController;
}

/** The supervisor of a bridge in code: one at a time, which all share who start it. */
export class SharedStart {
  readonly #make: (seams: StartSeams) => Supervisor;
  #begun: Begun | undefined;

  constructor(make: (seams: StartSeams) => Supervisor) {
    this.#make = make;
  }

  /** With `ends`, the bridge ends when `signal` aborts, also when it was begun by another call. */
  async start(seams: StartSeams, signal: AbortSignal | undefined, ends = false): Promise<Supervisor> {
    for (;;) {
      signal?.throwIfAborted();
      const begun = this.#begun;
      if (begun === undefined) return this.#begin(seams, signal);
      try {
        const supervisor = await this.#join(begun, signal);
        if (supervisor !== undefined) return supervisor;
      } catch (error) {
        if (ends && signal?.aborted === true) await end(begun, signal.reason);
        throw error;
      }
    }
  }

  #begin(seams: StartSeams, signal: AbortSignal | undefined): Promise<Supervisor> {
    const over = new AbortController();
    const given = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    const supervisor = started(this.#make(seams), given).catch((error: unknown) => {
      this.#forget(begun);
      throw error;
    });
    const begun: Begun = { supervisor, signal, over };
    this.#begun = begun;
    return supervisor;
  }

  /** `undefined` when there is nothing any more to join: another is to be begun. */
  async #join(begun: Begun, signal: AbortSignal | undefined): Promise<Supervisor | undefined> {
    const supervisor = await orAborted(begun.supervisor, signal).catch((error: unknown) => {
      // That somebody else was no longer interested says nothing to this caller.
      if (signal?.aborted !== true && begun.signal?.aborted === true && !begun.over.signal.aborted) return undefined;
      throw error;
    });
    if (supervisor === undefined) return undefined;
    if (supervisor.state().kind !== "shutting_down") {
      await supervisor.start(signal);
      return supervisor;
    }
    await orAborted(supervisor.shutdown(), signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      const message = `the bridge cannot start anew: it did not close before: ${(error as Error).message}`;
      throw new OperationError("conflict", message, { cause: error });
    });
    this.#forget(begun);
    return undefined;
  }

  #forget(begun: Begun): void {
    if (this.#begun === begun) this.#begun = undefined;
  }
}

async function started(supervisor: Supervisor, signal: AbortSignal): Promise<Supervisor> {
  try {
    await supervisor.start(signal);
    return supervisor;
  } catch (error) {
    const [shut] = await Promise.allSettled([supervisor.shutdown()]);
    if (shut.status === "rejected") {
      const message = "the bridge did not start, and did not close what it had opened";
      throw new AggregateError([error, shut.reason], message, { cause: error });
    }
    throw error;
  }
}

/** Gives up a start that is under way, and shuts down what runs. */
async function end({ supervisor, signal, over }: Begun, reason: unknown): Promise<void> {
  over.abort(reason);
  const running = await supervisor.catch((error: unknown) => {
    if (error !== reason && error !== signal?.reason) throw error;
  });
  await running?.shutdown();
}
