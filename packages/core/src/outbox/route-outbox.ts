import { BridgeError, type OutboxRecord } from "@bridge/ports";
import { OperationError } from "../operation-error.ts";
import type { Failures } from "../route/failures.ts";
import { type LegOutcome, type Outcome, summarise } from "../route/outcome.ts";
import type { RouteParts } from "../route/route-parts.ts";
import { SharedOutbox } from "../route/shared-outbox.ts";
import { Drain } from "./drain.ts";
import { OutboxDepth } from "./outbox-depth.ts";
import { RecordOutcomes } from "./record-outcomes.ts";

export interface RouteOutboxOptions {
  readonly parts: RouteParts;
  readonly failures: Failures;
}

/** What became of an injected message whose legs went into the outbox. */
export interface DrainedOutcome extends Outcome {
  readonly warning?: string;
  /** Whether the dead letter that a record redrove is gone; absent when no record took one along. */
  readonly entryDeleted?: boolean;
}

const DUPLICATE_WARNING =
  "the outbox has seen this message id with this payload before, so it sent nothing; use another id to send the message again";

/** The outbox as one route of mode `shared_outbox` uses it: the way in, a drain for each binding, and who waits for what. */
export class RouteOutbox {
  readonly handover: SharedOutbox;
  readonly drains: ReadonlyMap<string, Drain>;
  readonly #options: RouteOutboxOptions;
  readonly #depth: OutboxDepth;
  readonly #outcomes = new RecordOutcomes();

  constructor(options: RouteOutboxOptions) {
    const { parts, failures } = options;
    const store = parts.outbox;
    this.#options = options;
    this.#depth = new OutboxDepth(parts.config.policy.maxOutboxDepth);
    const [depth, outcomes] = [this.#depth, this.#outcomes];
    this.drains = new Map(
      [...parts.targets].map(([id, target]) => [id, new Drain({ parts, target, store, depth, outcomes })]),
    );
    this.handover = new SharedOutbox({
      parts,
      failures,
      store,
      depth,
      wake: (bindingId) => this.drains.get(bindingId)?.wake(),
    });
  }

  get able(): boolean {
    return [...this.drains.values()].every((drain) => drain.able);
  }

  /** Enters what a former runtime or process has left. @throws BridgeError when the store cannot tell */
  async recover(signal: AbortSignal): Promise<void> {
    const store = this.#options.parts.outbox();
    if (store?.shared === true) {
      for (const { account } of this.#options.parts.targets.values()) this.#depth.found(account.own.size);
      return;
    }
    const backlog = (await store?.backlog(signal)) ?? [];
    const own = backlog.filter(
      ({ routeId, bindingId }) => routeId === this.#options.parts.config.id && this.drains.has(bindingId),
    );
    for (const { depth } of own) this.#depth.found(depth);
  }

  /** A record was moved to the DLQ by an operator: there is room again, and its key goes on. */
  left({ id, bindingId }: OutboxRecord, own: boolean): void {
    this.#outcomes.ended(id, { disposition: "dead_lettered" });
    const drain = this.drains.get(bindingId);
    // Records of a binding that the route has no more take no room.
    if (drain === undefined) return;
    if (own) this.#depth.give(1);
    drain.left(id);
  }

  async quiesce(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.drains.values()].map((drain) => drain.quiesce(signal)));
  }

  /** @throws OperationError `pending` while a record redrives this dead letter */
  async refuseSecondRedrive(entryId: string, signal: AbortSignal): Promise<void> {
    if ((await this.#options.parts.outbox()?.redriving(entryId, signal)) !== undefined) throw stillPending();
  }

  /**
   * Waits until every leg that went into the outbox has come out of it, so that the answer is about delivery.
   * @throws OperationError `pending` when `signal` aborts first: the outbox goes on with it
   */
  async drained(outcome: Outcome, redrive: boolean, signal: AbortSignal): Promise<DrainedOutcome> {
    const { parts } = this.#options;
    const store = this.#options.parts.outbox();
    const records = outcome.records ?? [];
    const seen = records.some((leg) => leg.disposition === "duplicate");
    const kept = outcome.disposition === "persisted" || seen ? [] : [{ ...outcome, bindingId: "" }];
    let entryKept: boolean | undefined;
    const legs = await Promise.all(
      records.map(async ({ recordId, bindingId }): Promise<LegOutcome> => {
        if (recordId === undefined || store === undefined) return { disposition: "abandoned", bindingId };
        const ended = await this.#outcomes.of(recordId, store, parts.clock, signal).catch((error: unknown) => {
          throw signal.aborted ? stillPending() : BridgeError.from(error);
        });
        entryKept = ended?.entryKept;
        return { disposition: ended?.disposition ?? "delivered", error: ended?.error, bindingId };
      }),
    );
    const failed = outcome.failedBindings.filter((id) => !legs.some((leg) => leg.bindingId === id));
    const { records: _, ...all } = summarise([...legs, ...kept]);
    return {
      ...all,
      failedBindings: [...all.failedBindings, ...failed],
      ...(seen && { warning: DUPLICATE_WARNING }),
      ...(redrive && records.length === 1 && failed.length === 0 && { entryDeleted: entryKept !== true }),
    };
  }
}

function stillPending(): OperationError {
  return new OperationError("pending", "the message is still pending in the outbox, which goes on delivering it");
}
