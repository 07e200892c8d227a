import type { Standing } from "../auditor/job.ts";
import type { Judgement } from "../auditor/judge.ts";
import type { Flags } from "../flags.ts";
import { readPayload } from "../message.ts";
import type { Entry } from "../bridge/api.ts";
import type { Dice } from "../plan/dice.ts";
import { hasOutbox } from "../routes.ts";
import { holdingsOf, type RestState, waitForRest } from "./rest.ts";
import type { Stage } from "./stage.ts";
import type { VitalSigns } from "./vitals.ts";

const MAX_ENTRIES_READ = 200;
const STOP_TIMEOUT_MS = 40_000;

export interface ReckoningOptions {
  readonly stage: Stage;
  readonly flags: Flags;
  readonly vitals: VitalSigns;
  readonly dice: Dice;
  /** As `performance.now`: patience ends there. */
  readonly until: number;
}

/** How everything ended. */
export interface Reckoning {
  readonly standing: Standing;
  readonly rest: RestState;
  /** Absent when the bridge did not answer at the end. */
  readonly judgement: Judgement | undefined;
  /** Entries of the DLQ whose payload was read back and compared. */
  readonly entriesRead: number;
  /** How the bridge ended when it was asked to at last. */
  readonly lastEnding: string;
}

/** With everything mended: starts the bridge for the last time, waits for rest, and accounts for every message. */
export async function reckon(options: ReckoningOptions, signal: AbortSignal): Promise<Reckoning> {
  const { stage, flags, vitals, until, dice } = options;
  void stage.bridge.start();
  await stage.auditor.enough();
  const { state, holdings } = await waitForRest(
    {
      auditor: stage.auditor,
      read: () => vitals.read(),
      holdings: () => holdingsOf(stage.api, flags.routes, hasOutbox(flags)),
      until,
    },
    signal,
  );
  const standing = await stage.auditor.standing();
  const judgement = holdings === undefined ? undefined : await stage.auditor.judge(holdings.where);
  const spoiled = holdings === undefined ? [] : await spoiledEntries(stage.api, holdings.entries, dice);
  const lastEnding = String(await stage.bridge.stop(STOP_TIMEOUT_MS).catch((error: Error) => error.message));
  return {
    standing,
    rest: state,
    judgement: judgement && { ...judgement, spoiled: [...judgement.spoiled, ...spoiled] },
    entriesRead: Math.min(holdings?.entries.length ?? 0, MAX_ENTRIES_READ),
    lastEnding,
  };
}

/** Reads some dead letters back; returns the ids of those that are not as they were sent. */
export async function spoiledEntries(
  api: Stage["api"],
  entries: readonly Entry[],
  dice: Dice,
): Promise<readonly string[]> {
  const order = dice.fork("entries");
  const sample = entries
    .map((entry) => ({ entry, rank: order.next() }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_ENTRIES_READ);
  const spoiled: string[] = [];
  for (const { entry } of sample) {
    const { messageId, payload } = await api.deadLetter(entry.id);
    const { id, intact } = readPayload(payload);
    if (!intact || id !== messageId || id !== entry.messageId) spoiled.push(entry.messageId);
  }
  return spoiled;
}
