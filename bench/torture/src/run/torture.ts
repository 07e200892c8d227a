import { setTimeout as sleep } from "node:timers/promises";
import type { Standing } from "../auditor/job.ts";
import { type Flags, lanesOf } from "../flags.ts";
import { readPayload } from "../message.ts";
import { Dice } from "../plan/dice.ts";
import type { Progress } from "../report/progress.ts";
import type { Result } from "../report/result.ts";
import { killAgainAndAgain, type OwnEnd } from "./lives.ts";
import { type Holdings, waitForRest } from "./rest.ts";
import { isDisk, type Stage } from "./stage.ts";
import { makeTrouble, type TroubleNote } from "./troubles.ts";
import { VitalSigns } from "./vitals.ts";

/** Of the time limit, what is kept for coming to rest. */
const REST = { share: 0.3, mostMs: 45_000 } as const;
const READY_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 100;
const SHOW_EVERY_MS = 500;
const STOP_TIMEOUT_MS = 40_000;
const MAX_TROUBLES_KEPT = 400;
const MAX_ENTRIES_READ = 200;

/** One run, from the first message to the judgement. Rejects when a part of the torture itself has failed. */
export async function torture(
  stage: Stage,
  flags: Flags,
  show: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Result> {
  const began = performance.now();
  const until = began + flags.timeLimitMs;
  const killsUntil = until - Math.min(REST.share * flags.timeLimitMs, REST.mostMs);
  const dice = new Dice(flags.seed);
  const lanes = lanesOf(flags);
  const vitals = new VitalSigns(stage.api);
  const ownEnds: OwnEnd[] = [];
  const troubles: TroubleNote[] = [];
  const counts: Record<string, number> = {};
  let [kills, stops] = [0, 0];
  let phase: Progress["phase"] = "starting";

  const onTrouble = (note: TroubleNote): void => {
    const name = `${note.lane}.${note.kind}`;
    counts[name] = (counts[name] ?? 0) + 1;
    troubles.push(note);
    if (troubles.length > MAX_TROUBLES_KEPT) troubles.shift();
  };

  const over = new AbortController();
  const all = AbortSignal.any([signal, over.signal]);
  const watching = watch();
  try {
    await firstMessages(stage);
    phase = "torture";
    await wreck();
    signal.throwIfAborted();
    phase = "coming to rest";
    void stage.bridge.start();
    await stage.auditor.enough();
    const outbox = flags.mode === "shared_outbox";
    const rest = await waitForRest({ stage, vitals, routes: flags.routes, outbox, until });
    const { holdings } = rest;
    const standing = await stage.auditor.standing();
    const judgement = holdings === undefined ? undefined : await stage.auditor.judge(holdings.where);
    const spoiled = holdings === undefined ? [] : await spoiledEntries(stage, holdings, dice);
    const lastEnding = String(await stage.bridge.stop(STOP_TIMEOUT_MS).catch((error: Error) => error.message));
    return {
      flags,
      began: new Date(stage.began).toISOString(),
      seconds: (performance.now() - began) / 1_000,
      kills,
      stops,
      ownEnds,
      troubles: Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b))),
      impossible: lanes.filter((lane) => isDisk(lane) && !stage.disks.has(lane)),
      standing,
      vitals: vitals.vitals,
      atRest: rest.reached,
      judgement: judgement && { ...judgement, spoiled: [...judgement.spoiled, ...spoiled] },
      entriesRead: Math.min(holdings?.entries.length ?? 0, MAX_ENTRIES_READ),
      lastEnding,
      lastTroubles: troubles,
      folder: stage.folder,
    };
  } finally {
    over.abort();
    await watching;
  }

  /** Kills and troubles at the same time; ends with all troubles mended and no bridge. */
  async function wreck(): Promise<void> {
    const done = new AbortController();
    const during = AbortSignal.any([signal, done.signal]);
    const making = makeTrouble({ stage, lanes, dice, onTrouble }, during);
    const killing = killAgainAndAgain(
      {
        stage,
        dice,
        kills: flags.kills,
        until: killsUntil,
        onKill: () => kills++,
        onStop: () => stops++,
        onOwnEnd: (end) => ownEnds.push(end),
      },
      during,
    );
    try {
      await Promise.race([killing, making.then(() => killing)]);
    } finally {
      done.abort();
      await Promise.allSettled([killing, making]);
    }
    await making;
  }

  async function watch(): Promise<void> {
    let standing: Standing | undefined;
    while (!all.aborted) {
      // The auditor does not answer any more once the stage is taken down.
      standing = await stage.auditor.standing().catch(() => standing);
      if (phase === "torture") await vitals.read();
      const leftMs = until - performance.now();
      show({ phase, kills, wantedKills: flags.kills, troubles: totalOf(counts), leftMs, standing });
      await sleep(SHOW_EVERY_MS, undefined, { signal: all }).catch(() => {});
    }
  }
}

/** Brings everything up once without any trouble, so that sessions and subscriptions are there before the first message. */
async function firstMessages({ bridge, api, auditor, links }: Stage): Promise<void> {
  await auditor.watch();
  const ended = bridge.start();
  const left = ended.then((ending) => {
    throw new Error(`the bridge has ended at its first start, with ${ending}: see its log`);
  });
  left.catch(() => {});
  await Promise.race([ready(api), left]);
  await auditor.offer(links.http_source_link.port);
  await bridge.kill();
}

async function ready(api: Stage["api"]): Promise<void> {
  for (const end = performance.now() + READY_TIMEOUT_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
    if (await api.ready()) return;
  }
  throw new Error(`the bridge was not ready within ${READY_TIMEOUT_MS} ms of its first start: see its log`);
}

/** Reads some dead letters back; returns the ids of those that are not as they were sent. */
async function spoiledEntries({ api }: Stage, { entries }: Holdings, dice: Dice): Promise<readonly string[]> {
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

function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
