import { type BridgeConfig, type Stranded, type Stranding, strandingOf } from "@bridge/config";
import { type Clock, type DlqStore, type OutboxBacklog, type OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { departures } from "../change/stranding.ts";

/** How long one store may take to tell what it holds. */
const COUNT_TIMEOUT_MS = 5_000;
/** More dead letters than these are not counted. */
const COUNT_CAP = 1_000;
/** How long what is on its way may take to show that it moves, and how often that is looked at. */
const MOVING_MS = 1_000;
const LOOK_MS = 100;

export interface LeftBehindOptions {
  readonly clock: Clock;
  /** The configuration that the messages were taken in under. */
  readonly from: BridgeConfig;
  readonly to: BridgeConfig;
  /** Those that are open. */
  readonly outbox: OutboxStore | undefined;
  readonly dlq: DlqStore | undefined;
}

/** What a change would leave behind as the stores are now; a store that cannot tell counts as one that holds something. */
export async function leftBehind(options: LeftBehindOptions, signal: AbortSignal): Promise<Stranding | undefined> {
  const { record, deadLetters } = departures(options.from, options.to);
  const stranded = [
    ...(record === undefined ? [] : (await backlogOf(options, record, signal)).map(toStranded)),
    ...(deadLetters ? await deadLettersOf(options, signal) : []),
  ];
  return stranded.length === 0 ? undefined : strandingOf(stranded);
}

/**
 * As {@link leftBehind}, while a runtime delivers: records that are on their way do not count when all that waited at
 * first has gone within a second.
 */
export async function leftBehindByStandstill(
  options: LeftBehindOptions,
  signal: AbortSignal,
): Promise<Stranding | undefined> {
  const { clock } = options;
  const { record, deadLetters } = departures(options.from, options.to);
  const first = await leftBehind(options, signal);
  if (first === undefined || record === undefined || deadLetters) return first;
  if (first.stranded.some(({ waiting }) => waiting === undefined)) return first;
  const [beganAt, until] = [clock.now(), clock.monotonic() + MOVING_MS];
  while (clock.monotonic() < until) {
    await clock.delay(LOOK_MS, signal);
    const lines = await backlogOf(options, record, signal);
    if (lines.every((line) => line !== "unknown" && line.oldestCreatedAt > beganAt)) return undefined;
  }
  return leftBehind(options, signal);
}

type Line = OutboxBacklog | "unknown";

async function backlogOf(
  { clock, outbox }: LeftBehindOptions,
  counts: (line: OutboxBacklog) => boolean,
  signal: AbortSignal,
): Promise<readonly Line[]> {
  const lines = await counted(clock, outbox, (store, bounded) => store.backlog(bounded), signal);
  return lines?.filter((line) => line.depth > 0 && counts(line)) ?? ["unknown"];
}

async function deadLettersOf({ clock, dlq }: LeftBehindOptions, signal: AbortSignal): Promise<readonly Stranded[]> {
  const waiting = await counted(clock, dlq, (store, bounded) => store.count(COUNT_CAP, bounded), signal);
  if (waiting === undefined) return [{ store: "dlq" }];
  if (waiting === 0) return [];
  return [{ store: "dlq", waiting, ...(waiting >= COUNT_CAP && { capped: true as const }) }];
}

/** `undefined` when the store is not open, refuses or does not answer in time. */
async function counted<Store, Count>(
  clock: Clock,
  store: Store | undefined,
  count: (store: Store, signal: AbortSignal) => Promise<Count>,
  signal: AbortSignal,
): Promise<Count | undefined> {
  if (store === undefined) return undefined;
  using bound = deadline(clock, COUNT_TIMEOUT_MS, new Error("the store did not answer in time"));
  const either = AbortSignal.any([signal, bound.signal]);
  try {
    return await orAborted(count(store, either), either);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function toStranded(line: Line): Stranded {
  if (line === "unknown") return { store: "outbox" };
  return { store: "outbox", routeId: line.routeId, bindingId: line.bindingId, waiting: line.depth };
}
