import type { Logger } from "@bridge/ports";
import { OperationError } from "../operation-error.ts";
import type { SupervisorState, TerminalCause } from "./contract.ts";
import { mayFollow } from "./transitions.ts";

/** One state, changed in one function that asserts; which may follow which is in transitions.ts. */
export class StateMachine {
  readonly #logger: Logger;
  readonly #onEnter: (from: SupervisorState["kind"], to: SupervisorState) => void;
  readonly #terminated = Promise.withResolvers<SupervisorState & { kind: "terminal" }>();
  readonly #terminal = new AbortController();
  #state: SupervisorState = { kind: "unwired" };

  constructor(logger: Logger, onEnter: (from: SupervisorState["kind"], to: SupervisorState) => void) {
    this.#logger = logger;
    this.#onEnter = onEnter;
  }

  get now(): SupervisorState {
    return this.#state;
  }

  is(...kinds: readonly SupervisorState["kind"][]): boolean {
    return kinds.includes(this.#state.kind);
  }

  /** Resolves when it is `terminal`. */
  get terminated(): Promise<SupervisorState & { kind: "terminal" }> {
    return this.#terminated.promise;
  }

  /** Aborts when it is `terminal`. */
  get terminal(): AbortSignal {
    return this.#terminal.signal;
  }

  /** @throws OperationError when the bridge is `terminal` */
  refuseWhenTerminal(): void {
    if (this.#state.kind === "terminal") throw beyondRecovery(this.#state.error);
  }

  enter(next: SupervisorState): void {
    const { kind: from } = this.#state;
    if (!mayFollow(from, next.kind)) throw new Error(`a bridge that is ${from} cannot become ${next.kind}`);
    this.#logger.info("bridge state", { from, to: next.kind });
    this.#state = next;
    this.#onEnter(from, next);
  }

  becomeTerminal(cause: TerminalCause, error: Error): void {
    // The first cause is the cause; and a process that ends already needs no other.
    if (!mayFollow(this.#state.kind, "terminal")) return;
    const state = { kind: "terminal", cause, error } as const;
    this.enter(state);
    this.#terminal.abort(beyondRecovery(error));
    this.#terminated.resolve(state);
  }
}

export function beyondRecovery(error: Error): OperationError {
  return new OperationError("conflict", `the bridge is beyond recovery: ${error.message}`, { cause: error });
}
