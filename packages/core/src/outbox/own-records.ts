import { type Clock, type Logger, type OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { LegAccount } from "../accounting/leg-account.ts";
import type { OutboxDepth } from "./outbox-depth.ts";

/** How often records are looked up; less and less often while none turns out to have ended. */
const EVERY_MS = { first: 2_000, longest: 30_000 } as const;
/** Records per lookup. */
const ASKED = 50;
/** A lookup without an answer by then is repeated. */
const STATUS_TIMEOUT_MS = 5_000;

export interface OwnRecordsOptions {
  readonly store: () => OutboxStore | undefined;
  readonly account: LegAccount;
  readonly depth: Pick<OutboxDepth, "give">;
  /** Records on loan here: this process sees their end itself. */
  readonly held: ReadonlySet<string>;
  /** Whether no more records are added, so that this ends with the last one. Default: false. */
  readonly isLeft?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * In a shared outbox, other processes may end the records that this one persisted. This looks such records up from time
 * to time and takes them out of the accounts here, as `abandoned`; whoever ended them has them in its own. So they no
 * longer count towards `max_outbox_depth` either.
 *
 * In an outbox that is not shared, it does the same for records whose end was written but not confirmed. Dispose of the
 * result to stop.
 */
export function followOwnRecords(options: OwnRecordsOptions, signal: AbortSignal): AsyncDisposable {
  const stop = new AbortController();
  const running = follow(options, AbortSignal.any([signal, stop.signal])).catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

async function follow(options: OwnRecordsOptions, signal: AbortSignal): Promise<void> {
  const { clock, account, store, isLeft = false } = options;
  let pauseMs: number = EVERY_MS.first;
  let before: ReadonlySet<string> = new Set();
  let asked = new Set<string>();
  const isOver = (): boolean => isLeft && !account.mayEndUnseen;
  while (!isOver()) {
    await clock.delay(pauseMs, signal);
    const all = new Set(store()?.shared === true ? account.own : account.doubted);
    const open = [...all].filter((id) => before.has(id) && !asked.has(id) && !options.held.has(id));
    before = all;
    const some = open.slice(0, ASKED);
    // Take turns: records that wait for long must not block the lookup of the others.
    asked = some.length < open.length ? new Set([...asked, ...some]) : new Set();
    const ended = await enter(options, some, signal);
    pauseMs = ended > 0 || some.length === 0 ? EVERY_MS.first : Math.min(EVERY_MS.longest, pauseMs * 2);
  }
}

/** Returns how many records have ended. */
async function enter(
  { store, account, depth, held, clock, logger }: OwnRecordsOptions,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const opened = store();
  if (opened === undefined) return 0;
  using bound = deadline(clock, STATUS_TIMEOUT_MS, new Error("the outbox store did not answer"));
  const asking = AbortSignal.any([signal, bound.signal]);
  let ended = 0;
  let unknown = 0;
  await Promise.all(
    ids.map(async (id) => {
      // A store that does not answer says nothing about the record: ask again.
      const status = await orAborted(opened.status(id, asking), asking).catch(() => "pending" as const);
      if (status === "pending" || held.has(id)) return;
      const was = opened.shared === true ? account.endedElsewhere(id) : account.doubtOver(id, status);
      if (!was) return;
      depth.give(1);
      ended++;
      if (status === undefined) unknown++;
    }),
  );
  if (unknown > 0) {
    logger.warn("records are not in the outbox any more: ended longer ago than its retention, or deleted by hand", {
      records: unknown,
    });
  }
  return ended;
}
