import { BridgeError, type Envelope } from "@bridge/ports";
import { plannedBinding } from "../plan/change.ts";
import type { Owner } from "../time/virtual-time.ts";

/**
 * A minute, by a clock that may be fast. Nothing that is to be sent is tried so seldom: who sends nothing for so long has nothing
 * to do, and what failed before that is no news.
 */
const FORGOTTEN_MS = 59_000;

/** A send that is not answered yet. */
export interface OpenSend {
  readonly since: number;
  readonly envelopeId: string;
  /** Aborts when whoever sends it gives it up. */
  readonly signal: AbortSignal;
}

/** What came of the sends of one instance to one binding, as it was told by then. */
export class BindingSeen {
  readonly open = new Set<OpenSend>();
  /** Failures since the last acceptance, of which the first and the last came then. */
  failures = 0;
  firstFailureAt = 0;
  lastFailureAt = 0;
}

/** What whoever stands at the targets knows of the sends of each instance. */
export class SendsSeen {
  now: () => number = () => 0;
  readonly #byOwner = new Map<Owner, Map<string, BindingSeen>>();

  /**
   * A send begins; what is returned is called when its sender has been answered, or has given it up. A binding that has another
   * address by now sends records of the outbox to the one that they came with, which says as much of how it gets on.
   */
  begins(owner: Owner, address: string, { id }: Pick<Envelope, "id">, signal: AbortSignal): (error: unknown) => void {
    const binding = plannedBinding(address);
    const bindings = this.#byOwner.get(owner) ?? new Map<string, BindingSeen>();
    this.#byOwner.set(owner, bindings);
    const seen = bindings.get(binding) ?? new BindingSeen();
    bindings.set(binding, seen);
    const isAtWork = [...seen.open].some((each) => !each.signal.aborted);
    if (!isAtWork && this.now() - seen.lastFailureAt >= FORGOTTEN_MS) seen.failures = 0;
    const send = { since: this.now(), envelopeId: id, signal };
    seen.open.add(send);
    return (error) => {
      seen.open.delete(send);
      if (error === undefined) seen.failures = 0;
      // What was cancelled has not failed.
      else if (BridgeError.is(error)) {
        if (seen.failures++ === 0) seen.firstFailureAt = this.now();
        seen.lastFailureAt = this.now();
      }
    };
  }

  of(owner: Owner): ReadonlyMap<string, BindingSeen> {
    return this.#byOwner.get(owner) ?? new Map<string, BindingSeen>();
  }

  /** What it was told before says nothing any more. */
  anew(owner: Owner): void {
    for (const seen of this.of(owner).values()) seen.failures = 0;
  }
}
