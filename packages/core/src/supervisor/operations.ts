import type { BridgeConfig } from "@bridge/config";
import type { DlqAdmin, DlqStore, OutboxRecord, Seams, SourceMessage } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { deleteDelivered } from "../dlq/delete-delivered.ts";
import { DeliveredEntries } from "../dlq/delivered-entries.ts";
import { redrive } from "../dlq/redrive.ts";
import { type RedrivenEntry, redriveEntry, type RedriveEntryOptions } from "../dlq/redrive-entry.ts";
import type { RedriveResult } from "../dlq/redrive-result.ts";
import { OperationError } from "../operation-error.ts";
import { deadLetterRecords, type MovedAs, type MoveResult } from "../outbox/dead-letter-record.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { Slots } from "../route/slots.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { RedriveEntryRequest } from "./contract.ts";
import type { Foundation } from "./foundation.ts";

export interface OperationsOptions {
  readonly seams: Seams;
  readonly foundation: Foundation;
  readonly config: () => BridgeConfig;
  /** Whatever runtime there is, also one that is stopped. */
  readonly runtime: () => Runtime | undefined;
  /** The runtime that carries messages. @throws OperationError `unavailable` without one */
  readonly current: () => Runtime;
}

/** Of the entries that a log line is about, so many are named. */
const NAMED = 10;

/** What operators do with messages: see `Supervisor`. */
export class Operations {
  readonly #options: OperationsOptions;
  /** Shared by all that redrive in this process: what is worked on, and what was delivered and not deleted. */
  readonly busy = new Set<string>();
  readonly delivered = new DeliveredEntries();
  /** One for each redrive that is under way. */
  readonly #underWay = new Slots(Number.POSITIVE_INFINITY);

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  async inject(routeId: string, message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    return this.#options.current().inject(routeId, message, signal);
  }

  async redrive(ids: readonly string[], signal: AbortSignal, replayTimeoutMs?: number): Promise<RedriveResult> {
    const { current, foundation, seams } = this.#options;
    const { accounts } = foundation;
    const runtime = current();
    const redriving = redrive({
      ids,
      store: this.#deletingStore(),
      target: { replay: async (entry, bound) => runtime.replay(entry, bound) },
      busy: this.busy,
      delivered: this.delivered,
      clock: seams.clock,
      logger: seams.logger,
      signal,
      mayBegin: () => runtime.running,
      replayTimeoutMs,
    });
    const result = await this.#tracked(redriving);
    accounts.redrives += result.redriven;
    accounts.redriveFailures += result.failed;
    return result;
  }

  async redriveEntry(id: string, request: RedriveEntryRequest, signal: AbortSignal): Promise<RedrivenEntry> {
    const { current, foundation, seams } = this.#options;
    const { accounts } = foundation;
    const runtime = current();
    const store = this.#deletingStore();
    if (!canMark(store)) throw new OperationError("not_found", "the DLQ store cannot do that");
    const { edit = (entry) => entry, replayTimeoutMs } = request;
    const { busy, delivered } = this;
    const replay: RedriveEntryOptions["replay"] = async (entry, bound, of) => runtime.replay(entry, bound, of);
    try {
      const options = { ...seams, id, edit, store, replay, busy, delivered, signal, replayTimeoutMs };
      const result = await this.#tracked(redriveEntry(options));
      if (result.kind === "redriven") accounts.redrives++;
      else accounts.redriveFailures++;
      return result;
    } catch (thrown) {
      if (thrown instanceof OperationError) accounts.redriveFailures++;
      throw thrown;
    }
  }

  async deadLetterRecords(ids: readonly string[], signal: AbortSignal): Promise<MoveResult> {
    const { foundation, runtime, seams } = this.#options;
    const { stores, accounts } = foundation;
    const outbox = stores.outbox();
    const dlq = stores.dlq();
    if (outbox === undefined) throw this.#missing("outbox", "outbox");
    if (dlq === undefined) throw this.#missing("dlq", "DLQ");
    const moved = (record: OutboxRecord, as: MovedAs): void => {
      const account = accounts.leg(record.routeId, record.bindingId);
      const own = account.move(as, record.id, outbox.shared === true);
      runtime()?.recordLeft(record, as, own);
      foundation.recordMoved(record);
    };
    const doubted = ({ routeId, bindingId, id }: OutboxRecord, as: MovedAs): void => {
      // Of one that is shared whoever has persisted it looks it up.
      if (outbox.shared !== true) accounts.leg(routeId, bindingId).doubt(id, as);
    };
    return deadLetterRecords(ids, { ...seams, outbox, dlq, hooks: foundation.hooks, moved, doubted }, signal);
  }

  /**
   * After the runtime has stopped, so that nothing begins any more: resolves when every redrive has told what became of it, and what was
   * delivered is deleted. What is delivered and still there then is logged: the next process sends it again.
   */
  async settle(signal: AbortSignal): Promise<void> {
    await orAborted(this.#underWay.idle(), signal).catch(() => {});
    const store = this.#options.foundation.stores.dlq();
    const { delivered } = this;
    if (delivered.size === 0 || store === undefined || !canDelete(store)) return;
    await deleteDelivered({ store, delivered, ids: delivered.ids }, signal);
    if (delivered.size === 0) return;
    this.#options.seams.logger.error(
      "redriven entries are delivered and still there: another redrive sends them again",
      {
        count: delivered.size,
        entry_ids: delivered.ids.slice(0, NAMED),
      },
    );
  }

  async #tracked<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.tryTake();
    try {
      return await work;
    } finally {
      this.#underWay.release();
    }
  }

  /** @throws OperationError when there is none */
  #deletingStore(): DeletingStore {
    const store = this.#options.foundation.stores.dlq();
    if (store === undefined) throw this.#missing("dlq", "DLQ");
    if (!canDelete(store)) throw new OperationError("not_found", "no DLQ admin store configured");
    return store;
  }

  #missing(role: "dlq" | "outbox", name: string): OperationError {
    return this.#options.config().stores[role] === undefined
      ? new OperationError("not_found", `no ${name} store configured`)
      : new OperationError("unavailable", `the ${name} store is not open`);
  }
}

type DeletingStore = DlqStore & { readonly admin: DlqAdmin };

function canDelete(store: DlqStore): store is DeletingStore {
  return store.admin !== undefined;
}

function canMark(store: DeletingStore): store is DeletingStore & Required<Pick<DlqStore, "marks">> {
  return store.marks !== undefined;
}
