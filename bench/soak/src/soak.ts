import { setTimeout as sleep } from "node:timers/promises";
import { Dice } from "../../torture/src/plan/dice.ts";
import type { OwnEnd } from "../../torture/src/run/lives.ts";
import { feelPulse } from "../../torture/src/run/pulse.ts";
import { spoiledEntries } from "../../torture/src/run/reckoning.ts";
import { type Holdings, holdingsOf, type RestState, waitForRest } from "../../torture/src/run/rest.ts";
import type { Reading } from "../../torture/src/run/vitals.ts";
import type { Flags } from "./flags.ts";
import { digestOf } from "./log-digest.ts";
import { keepReading, keepScraping } from "./readings.ts";
import { keepReloading } from "./reloads.ts";
import type { Result } from "./report/result.ts";
import type { SideName } from "./sides.ts";
import type { Scene, Side } from "./scene.ts";
import { Timeline } from "./timeline.ts";
import { takeTurns } from "./trouble.ts";

const READY_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 200;
const SHOW_EVERY_MS = 30_000;
const REST_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;

/** One soak, from the first message to the account. Rejects when a part of the soak itself has failed. */
export async function soak(
  scene: Scene,
  flags: Flags,
  show: (line: string) => void,
  signal: AbortSignal,
): Promise<Result> {
  const { auditor, sides, prober, strangers, ingests } = scene;
  const began = Date.now();
  const dice = new Dice(flags.seed);
  const timeline = new Timeline();
  const ownEnds: OwnEnd[] = [];
  let stopping = false;
  await auditor.watch();
  for (const { name, bridge } of sides) {
    void bridge.start().then(async (ending) => {
      if (stopping) return;
      const lastWords = await bridge.lastWords();
      ownEnds.push({ atMs: Date.now() - began, ending, diskWasFull: false, lastWords });
      show(`bridge ${name} has ended by itself: ${ending}`);
    });
  }
  await Promise.all(sides.map((side) => ready(side, signal)));
  await auditor.offer(ingests);
  const pids = Object.fromEntries(sides.map(({ name, bridge }) => [name, bridge.pid])) as Record<SideName, number>;
  await Promise.all([prober.begin({ pids }), strangers.begin()]);

  const over = new AbortController();
  const during = AbortSignal.any([signal, over.signal]);
  const pulse = {
    auditor,
    api: { alive: async () => (await Promise.all(sides.map(({ api }) => api.alive()))).every(Boolean) },
  };
  const lanes = Promise.all([
    takeTurns(scene, dice, timeline, during),
    Promise.all(sides.map((side) => keepReloading(side, timeline, during))),
    keepReading(sides, during),
    keepScraping(sides, during),
    feelPulse(pulse, during),
    keepShowing(scene, timeline, began, show, during),
  ]);
  const minutes = sleep(flags.minutes * 60_000, undefined, { signal: during }).catch(() => {});
  try {
    await Promise.race([minutes, lanes]);
  } finally {
    over.abort();
  }
  const [, reloads, readings] = await lanes;
  signal.throwIfAborted();
  show("calm: waiting for rest");
  const strange = await strangers.enough();
  await auditor.enough();
  const rest = await waitForRest(
    {
      auditor,
      read: () => readAll(sides),
      holdings: () => holdingsOfAll(sides),
      until: performance.now() + REST_TIMEOUT_MS,
    },
    signal,
  );
  const probes = await prober.enough();
  const standing = await auditor.standing();
  const judgement = rest.holdings === undefined ? undefined : await auditor.judge(rest.holdings.where);
  const spoiled = await Promise.all(
    ownEnds.length > 0
      ? []
      : sides.map(async ({ api, routes }) => spoiledEntries(api, (await holdingsOf(api, routes, false)).entries, dice)),
  );
  stopping = true;
  const endings = await Promise.all(
    sides.map(({ bridge }) => bridge.stop(STOP_TIMEOUT_MS).then(String, (error: Error) => error.message)),
  );
  return {
    flags,
    began: new Date(began).toISOString(),
    seconds: Math.round((Date.now() - began) / 1_000),
    standing,
    rest: rest.state satisfies RestState,
    judgement: judgement && { ...judgement, spoiled: [...judgement.spoiled, ...spoiled.flat()] },
    ownEnds,
    lastEnding: endings.every((ending) => ending === "0") ? "0" : endings.join(" and "),
    vitals: {
      readings: sum(sides.map(({ vitals }) => vitals.vitals.readings)),
      unaccounted: sides.flatMap(({ vitals }) => vitals.vitals.unaccounted),
      dlqWriteFailures: sum(sides.map(({ vitals }) => vitals.vitals.dlqWriteFailures)),
    },
    happenings: timeline.all,
    reloads: reloads.flat(),
    readings,
    probes,
    late: probes.late.map((probe) => ({ ...probe, meanwhile: timeline.around(probe.at) })),
    unwell: probes.unwell.map((probe) => ({ ...probe, meanwhile: timeline.around(probe.at) })),
    strangers: strange,
    logs: Object.fromEntries(
      await Promise.all(sides.map(async ({ name, log }) => [name, await digestOf(log, timeline.all)] as const)),
    ),
    folder: scene.folder,
  };
}

async function ready({ name, api, bridge }: Side, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + READY_TIMEOUT_MS; performance.now() < end && bridge.running;) {
    if (await api.ready()) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
  throw new Error(`bridge ${name} was not ready: see its log. It ends with ${await bridge.lastWords()}`);
}

/** `undefined` while one of them does not answer. */
async function readAll(sides: readonly Side[]): Promise<Reading | undefined> {
  const readings = await Promise.all(sides.map(({ vitals }) => vitals.read()));
  if (!readings.every((reading) => reading !== undefined)) return undefined;
  return {
    unaccounted: sum(readings.map(({ unaccounted }) => unaccounted)),
    inFlight: sum(readings.map(({ inFlight }) => inFlight)),
    inOutbox: sum(readings.map(({ inOutbox }) => inOutbox)),
  };
}

async function holdingsOfAll(sides: readonly Side[]): Promise<Holdings> {
  const all = await Promise.all(sides.map(({ api, routes }) => holdingsOf(api, routes, true)));
  return {
    entries: all.flatMap(({ entries }) => entries),
    where: {
      deadLetters: all.flatMap(({ where }) => where.deadLetters),
      outbox: all.flatMap(({ where }) => where.outbox),
    },
  };
}

async function keepShowing(
  { auditor, sides }: Scene,
  timeline: Timeline,
  began: number,
  show: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(SHOW_EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const { accepted, arrived, repeats, unsettled } = await auditor.standing();
    const running = sides.filter(({ bridge }) => bridge.running).length;
    show(
      `${Math.round((Date.now() - began) / 1_000)} s: ${running} bridges, ${timeline.all.length} troubles and reloads, ${accepted} accepted, ${arrived} arrived, ${repeats} repeats, ${unsettled} unsettled; now ${timeline.all.at(-1)?.what}`,
    );
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
