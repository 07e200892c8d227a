import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "../../torture/src/plan/dice.ts";
import { type Act, actsOn } from "../../torture/src/run/troubles.ts";
import type { Scene } from "./scene.ts";
import type { Timeline } from "./timeline.ts";
import { type PostgresKind, turns } from "./turns.ts";

/** Has one part after the other in trouble until `signal` aborts, and mends it then. */
export async function takeTurns(scene: Scene, dice: Dice, timeline: Timeline, signal: AbortSignal): Promise<void> {
  const rest = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});
  const acts: Readonly<Record<string, Readonly<Record<string, Act>> | undefined>> = {
    ...actsOn(scene.wreckable, dice.fork("details")),
    postgres: postgresActs(scene),
  };
  for (const { lane, kind, afterMs, forMs } of turns(dice)) {
    const act = acts[lane]?.[kind];
    if (act === undefined) continue;
    await rest(afterMs);
    if (signal.aborted) return;
    await timeline.during(`${lane}.${kind}`, async () => {
      const mend = await act();
      await rest(forMs);
      await mend();
    });
  }
}

function postgresActs({ postgres: { cluster, link }, auditor }: Scene): Readonly<Record<PostgresKind, Act>> {
  const withoutOutbox = (begin: () => Promise<void> | void, end: () => Promise<void> | void): Act => {
    return async () => {
      await auditor.hinder("outbox_full", true);
      await begin();
      return async () => {
        await end();
        await auditor.hinder("outbox_full", false);
      };
    };
  };
  return {
    freeze: withoutOutbox(
      () => cluster.freeze(),
      () => cluster.thaw(),
    ),
    restart: withoutOutbox(
      () => cluster.stop("fast"),
      () => cluster.restart(),
    ),
    link_freeze: withoutOutbox(
      () => link.freeze(),
      () => link.restore(),
    ),
    link_refuse: withoutOutbox(
      () => {
        link.refuse();
        link.cut();
      },
      () => link.restore(),
    ),
  };
}
