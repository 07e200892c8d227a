import { setTimeout as sleep } from "node:timers/promises";
import type { Standing } from "../auditor/job.ts";
import { type Flags, lanesOf } from "../flags.ts";
import { Dice } from "../plan/dice.ts";
import type { Progress } from "../report/progress.ts";
import type { Result } from "../report/result.ts";
import { killAgainAndAgain } from "./lives.ts";
import { feelPulse } from "./pulse.ts";
import { reckon } from "./reckoning.ts";
import { isDisk, type Stage } from "./stage.ts";
import { Tally } from "./tally.ts";
import { makeTrouble } from "./troubles.ts";
import { VitalSigns } from "./vitals.ts";

/** Of the time limit, what is kept for coming to rest. */
const REST = { share: 0.25, mostMs: 300_000 } as const;
const READY_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 100;
const SHOW_EVERY_MS = 500;

/** One run, from the first message to the reckoning. Rejects when a part of the torture itself has failed. */
export async function torture(
  stage: Stage,
  flags: Flags,
  show: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Result> {
  const began = performance.now();
  const until = began + flags.timeLimitMs;
  const dice = new Dice(flags.seed);
  const vitals = new VitalSigns(stage.api);
  const tally = new Tally();
  let phase: Progress["phase"] = "starting";

  const over = new AbortController();
  const during = AbortSignal.any([signal, over.signal]);
  const watching = Promise.all([watch(during), feelPulse(stage, during)]);
  try {
    await firstMessages(stage);
    phase = "torture";
    await wreck({ stage, flags, dice, tally, until: until - restOf(flags) }, signal);
    phase = "coming to rest";
    const reckoning = await reckon({ stage, flags, vitals, dice, until }, signal);
    const { kills, stops, ownEnds, troubles, lastTroubles } = tally;
    return {
      flags,
      began: new Date(stage.began).toISOString(),
      seconds: (performance.now() - began) / 1_000,
      kills,
      stops,
      ownEnds,
      troubles,
      lastTroubles,
      impossible: lanesOf(flags).filter((lane) => isDisk(lane) && !stage.disks.has(lane)),
      vitals: vitals.vitals,
      ...reckoning,
      folder: stage.folder,
    };
  } finally {
    over.abort();
    await watching;
  }

  async function watch(running: AbortSignal): Promise<void> {
    let standing: Standing | undefined;
    while (!running.aborted) {
      // The auditor does not answer any more once the stage is taken down.
      standing = await stage.auditor.standing().catch(() => standing);
      if (phase === "torture") await vitals.read();
      const { kills, allTroubles: troubles } = tally;
      show({ phase, kills, wantedKills: flags.kills, troubles, leftMs: until - performance.now(), standing });
      await sleep(SHOW_EVERY_MS, undefined, { signal: running }).catch(() => {});
    }
  }
}

function restOf({ timeLimitMs }: Flags): number {
  return Math.min(REST.share * timeLimitMs, REST.mostMs);
}

interface WreckOptions {
  readonly stage: Stage;
  readonly flags: Flags;
  readonly dice: Dice;
  readonly tally: Tally;
  /** As `performance.now`: no more kills after this. */
  readonly until: number;
}

/** Kills and troubles at the same time; ends with all troubles mended and no bridge. */
async function wreck({ stage, flags, dice, tally, until }: WreckOptions, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const during = AbortSignal.any([signal, done.signal]);
  const lanes = lanesOf(flags);
  const making = makeTrouble({ stage, lanes, dice, onTrouble: (note) => tally.trouble(note) }, during);
  const killing = killAgainAndAgain({ stage, dice, kills: flags.kills, until, tally }, during);
  try {
    await Promise.race([killing, making.then(() => killing)]);
  } finally {
    done.abort();
    await Promise.allSettled([killing, making]);
  }
  await making;
  signal.throwIfAborted();
}

/** Brings everything up once without any trouble, so that sessions and subscriptions are there before the first message. */
async function firstMessages({ bridge, api, auditor, ingests }: Stage): Promise<void> {
  await auditor.watch();
  const left = bridge.start().then((ending) => {
    throw new Error(`the bridge has ended at its first start, with ${ending}: see its log`);
  });
  left.catch(() => {});
  const enough = new AbortController();
  await Promise.race([ready(api, enough.signal), left]).finally(() => enough.abort());
  await auditor.offer(ingests);
  await bridge.kill();
}

async function ready(api: Stage["api"], signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + READY_TIMEOUT_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
    if (signal.aborted || (await api.ready())) return;
  }
  throw new Error(`the bridge was not ready within ${READY_TIMEOUT_MS} ms of its first start: see its log`);
}
