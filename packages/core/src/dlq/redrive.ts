import type { DeliveryMode } from "@bridge/config";
import {
  BridgeError,
  type Clock,
  type DeadLetter,
  type DlqAdmin,
  type DlqStore,
  type Logger,
  RESERVED,
  type SourceMessage,
} from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { InjectResult } from "../route/inject-result.ts";
import { orderingKey } from "../route/identity.ts";
import { KeyedOrder } from "../route/keyed-order.ts";
import { Slots } from "../route/slots.ts";
import { deleteDelivered } from "./delete-delivered.ts";
import type { DeliveredEntries } from "./delivered-entries.ts";
import { SentAsKept } from "./as-kept.ts";
import { attempt, type Attempted, notDelivered } from "./attempt.ts";
import type { RedriveFailure, RedriveResult } from "./redrive-result.ts";

/** The runtime that dead letters are injected into. */
export type RedriveTarget = SafeTarget | PlainTarget;

interface SafeTarget {
  /** Redrive-safe injection: under a fresh envelope id, and to no binding but the one that failed. */
  replay(entry: DeadLetter, signal: AbortSignal): Promise<InjectResult>;
}

/** A runtime that cannot re-issue a message safely: entries for which that matters are refused (spec 4.6.7). */
interface PlainTarget {
  readonly replay?: undefined;
  inject(routeId: string, message: SourceMessage, signal: AbortSignal): Promise<InjectResult>;
  /** `undefined` for a route that is not configured. */
  deliveryMode(routeId: string): DeliveryMode | undefined;
}

export interface RedriveOptions {
  readonly ids: readonly string[];
  /** A store that can delete. */
  readonly store: DlqStore & { readonly admin: DlqAdmin };
  readonly target: RedriveTarget;
  /** The entries that some redrive of this process is working on; shared by all of its redrives. */
  readonly busy: Set<string>;
  /** Shared likewise: what is in it is deleted and not sent. */
  readonly delivered: DeliveredEntries;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Bounds the whole call: what it cuts off is reported and kept. */
  readonly signal: AbortSignal;
  /** False as soon as a stop has begun: what has not begun by then is reported as not attempted. */
  readonly mayBegin: () => boolean;
  /** Bounds each entry's inject, in milliseconds. Default 30 s. */
  readonly replayTimeoutMs?: number | undefined;
}

/** How many entries of one redrive are under way at once. */
const CONCURRENCY = 16;
/** Of one entry: while a store does not answer, nobody else may redrive it. */
const FETCH_TIMEOUT_MS = 10_000;

const NOT_ATTEMPTED = "not attempted";
const GONE = "entry already redriven or concurrently deleted";
const UNKNOWN = "outcome unknown";
const NOT_DELETED = "delivered, entry not deleted";
const QUARANTINED = "entry is quarantined";
const REFUSED = "refused: runtime lacks redrive-safe injection";
const UNSAFE_WARNING =
  "the runtime lacks redrive-safe injection: replays reuse the original envelope id and, on shared_outbox routes, may be silently deduplicated by the outbox; verify that the messages were delivered";

/**
 * Delivers dead letters again (spec 4.6): each entry is injected first and deleted only after its delivery is
 * confirmed, so that a crash in between repeats a message and never loses one. Entries of one ordering key go one
 * after another, in the order of the request.
 */
export async function redrive(options: RedriveOptions): Promise<RedriveResult> {
  const { signal, mayBegin } = options;
  const slots = new Slots(CONCURRENCY);
  const order = new KeyedOrder();
  const errors: RedriveFailure[] = [];
  const under: Promise<void>[] = [];
  const ids = [...new Set(options.ids)];
  const asKept = new SentAsKept(options.logger);
  let warned = false;

  for (const id of ids) {
    const failed = (error: string): void => void errors.push({ id, error });
    const room = await slots.take(signal).then(
      () => true,
      () => false,
    );
    if (!room) {
      failed(NOT_ATTEMPTED);
      continue;
    }
    if (!mayBegin() || options.busy.has(id)) {
      failed(mayBegin() ? GONE : NOT_ATTEMPTED);
      slots.release();
      continue;
    }
    options.busy.add(id);
    const end = (): void => {
      options.busy.delete(id);
      slots.release();
    };
    const entry = await fetch(options, id);
    if (typeof entry === "string") {
      failed(entry);
      end();
      continue;
    }
    const key = orderingKey(entry.envelope);
    const turn = key === undefined ? undefined : order.enter(JSON.stringify([entry.routeId, key]));
    if (options.target.replay === undefined && refusal(options.target, entry) === undefined) warned = true;
    const one = (async () => {
      try {
        if (turn !== undefined) await orAborted(turn.ready, signal);
        const error = await redriveOne(options, entry);
        if (error === undefined) asKept.redriven(entry);
        else failed(error);
      } catch {
        failed(NOT_ATTEMPTED);
      } finally {
        turn?.leave();
        end();
      }
    })();
    under.push(one);
  }
  await Promise.all(under);

  const position = new Map(ids.map((id, index) => [id, index]));
  errors.sort((a, b) => (position.get(a.id) ?? 0) - (position.get(b.id) ?? 0));
  const warnings = [warned ? UNSAFE_WARNING : undefined, asKept.warning].filter((text) => text !== undefined);
  return {
    redriven: ids.length - errors.length,
    failed: errors.length,
    errors,
    ...(warnings.length > 0 && { warning: warnings.join("; ") }),
  };
}

/** The entry, or why there is none to work on. */
async function fetch(
  { store, clock, signal, mayBegin, delivered }: RedriveOptions,
  id: string,
): Promise<DeadLetter | string> {
  using limit = deadline(clock, FETCH_TIMEOUT_MS, () => new BridgeError("TIMEOUT", "the DLQ store did not answer"));
  const both = AbortSignal.any([signal, limit.signal]);
  try {
    const entry = await orAborted(store.get(id, both), both);
    if (entry === undefined) {
      if (!delivered.hasId(id)) return "entry not found";
      return (await deleteDelivered({ store, delivered, ids: [id] }, both)).has(id) ? GONE : NOT_DELETED;
    }
    // Nothing holds back what is only to be deleted.
    return entry.marks?.quarantined === true && !delivered.has(entry) ? QUARANTINED : entry;
  } catch (error) {
    return signal.aborted || !mayBegin() ? NOT_ATTEMPTED : `the DLQ store failed: ${BridgeError.from(error).message}`;
  }
}

/** Injects, then deletes; says what went wrong. */
async function redriveOne(options: RedriveOptions, entry: DeadLetter): Promise<string | undefined> {
  const { target, delivered, mayBegin } = options;
  if (!mayBegin()) return NOT_ATTEMPTED;
  const replay = async (signal: AbortSignal): Promise<InjectResult> =>
    target.replay === undefined
      ? target.inject(entry.routeId, plainMessage(entry), signal)
      : target.replay(entry, signal);
  const refused = target.replay === undefined && !delivered.has(entry) ? refusal(target, entry) : undefined;
  return refused ?? inWords(await attempt({ ...options, replay }, entry), mayBegin);
}

/** `undefined` for what was delivered and deleted. */
function inWords(attempted: Attempted, mayBegin: () => boolean): string | undefined {
  switch (attempted.kind) {
    case "delivered":
      return undefined;
    case "gone":
      return GONE;
    case "not_deleted":
      return NOT_DELETED;
    case "unknown":
      return UNKNOWN;
    case "failed":
      return `the inject failed: ${attempted.error.message}`;
    case "not_delivered":
      return notDelivered(attempted.result);
    case "refused": {
      const { kind, message } = attempted.error;
      if (kind === "pending") return "redrive still pending in the outbox";
      if (kind === "not_begun") return NOT_ATTEMPTED;
      if (kind === "failed" && !mayBegin()) return UNKNOWN;
      return kind === "not_found" ? "route or binding not found" : message;
    }
  }
}

/** Why an entry may not go through a runtime without redrive-safe injection (spec 4.6.7). */
function refusal(target: PlainTarget, entry: DeadLetter): string | undefined {
  if (entry.bindingId !== "") return `${REFUSED} (the entry belongs to one binding)`;
  if (target.deliveryMode(entry.routeId) === "shared_outbox") return `${REFUSED} (the route is shared_outbox)`;
  if (entry.envelope.id !== "") return `${REFUSED} (the entry has an envelope id)`;
  if (entry.envelope.headers[RESERVED.dedupId] !== undefined) return `${REFUSED} (the entry has a deduplication key)`;
  return undefined;
}

/** The message for a plain inject. */
function plainMessage({ envelope }: DeadLetter): SourceMessage {
  const { subject, payload, headers, contentType, correlationId, expiresAt } = envelope;
  return { subject, payload, headers, contentType, correlationId, expiresAt, orderingKey: orderingKey(envelope) };
}
