import { setTimeout as sleep } from "node:timers/promises";
import type { Ending } from "../parts/part-process.ts";
import type { Dice } from "../plan/dice.ts";
import { type Life, livesOf, USUAL_LIFE_MS } from "../plan/lives.ts";
import type { Stage } from "./stage.ts";
import type { Tally } from "./tally.ts";

/** A process that has ended by itself. */
export interface OwnEnd {
  /** In milliseconds since the beginning. */
  readonly atMs: number;
  readonly ending: Ending;
  /** A disk was full: a bridge that starts then may give up, and is to be started again. */
  readonly diskWasFull: boolean;
  /** The end of its log, unless a disk was full. */
  readonly lastWords: string;
}

export interface LivesOptions {
  readonly stage: Stage;
  readonly dice: Dice;
  readonly kills: number;
  /** As `performance.now`: no more kills after this. */
  readonly until: number;
  readonly tally: Tally;
}

const HEALTHY_TIMEOUT_MS = 15_000;
const LOOK_EVERY_MS = 50;
/** A bridge that has ended by itself is started again after this, as its surroundings would. */
const RESTART_MS = 250;
const AFTER_PAUSE_MS = 100;
/** However little time there is, something is left of each pause. */
const LEAST_HASTE = 0.05;

/** Starts the bridge and kills it, again and again; leaves none running. */
export async function killAgainAndAgain(options: LivesOptions, signal: AbortSignal): Promise<void> {
  const { stage, dice, kills, until, tally } = options;
  const lives = livesOf(dice);
  while (tally.kills < kills && performance.now() < until && !signal.aborted) {
    const share = (until - performance.now()) / (kills - tally.kills);
    const haste = Math.min(1, Math.max(LEAST_HASTE, (share - USUAL_LIFE_MS.starting) / USUAL_LIFE_MS.pauses));
    const life = lives.next().value;
    const early = new AbortController();
    const ended = stage.bridge.start();
    const lived = live(stage, life, haste, AbortSignal.any([signal, early.signal]));
    const ownEnd = await Promise.race([ended, lived.then(() => undefined)]);
    // Before it listens to signals, one ends it as any other program.
    if (life.askedMs > 0 && (ownEnd === 0 || ownEnd === "SIGTERM")) {
      early.abort();
      await lived;
      tally.stops++;
    } else if (ownEnd === undefined) {
      await stage.auditor.dying();
      await stage.bridge.kill();
      if (signal.aborted) return;
      tally.kills++;
      await sleep(life.downMs * haste, undefined, { signal }).catch(() => {});
    } else {
      early.abort();
      await lived;
      const diskWasFull = [...stage.disks.values()].some((disk) => disk.tight);
      const lastWords = diskWasFull ? "" : await stage.bridge.lastWords();
      tally.ownEnds.push({ atMs: Date.now() - stage.began, ending: ownEnd, diskWasFull, lastWords });
      await sleep(RESTART_MS, undefined, { signal }).catch(() => {});
    }
    await stage.auditor.hinder("paused", false);
  }
}

/** Resolves when the time of this process has come. */
async function live({ bridge, api, auditor }: Stage, life: Life, haste: number, signal: AbortSignal): Promise<void> {
  const rest = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});
  if (!life.early) {
    const end = performance.now() + HEALTHY_TIMEOUT_MS;
    while (!signal.aborted && performance.now() < end && !(await api.healthy())) await rest(LOOK_EVERY_MS);
  }
  await rest(life.afterMs * haste);
  if (signal.aborted) return;
  if (life.askedMs > 0) {
    bridge.ask();
    await rest(life.askedMs);
  } else if (life.pauseMs > 0) {
    await auditor.hinder("paused", true);
    bridge.pause();
    await rest(life.pauseMs * haste);
    if (!life.resumes) return;
    bridge.resume();
    await auditor.hinder("paused", false);
    await rest(AFTER_PAUSE_MS);
  }
}
