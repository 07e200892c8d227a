import { type DeliveryMode, type Mode, modeOf, type RouteName, sourceOf } from "../routes.ts";
import type { Entry } from "./entry.ts";
import type { Ledger } from "./ledger.ts";
import { overtakenIn } from "./overtaken.ts";

/** Ids of the messages that are not at their targets, from the bridge's own stores. */
export interface Whereabouts {
  readonly deadLetters: readonly string[];
  readonly outbox: readonly string[];
}

/** What became of the messages of one route. */
export interface RouteJudgement {
  readonly route: RouteName;
  readonly offered: number;
  readonly accepted: number;
  /** Accepted, and at the target; else in the outbox; else in the DLQ. */
  readonly atTarget: number;
  readonly inOutbox: number;
  readonly inDlq: number;
  /** At the target and in the DLQ too: the target kept a message and never said so. */
  readonly inBoth: number;
  /** The source was told to forget it, and it is nowhere. */
  readonly lost: number;
  /** It is nowhere else because its source still has it: the torture ended too early. */
  readonly atSource: number;
  /** The source's broker has accepted it and never handed it over. */
  readonly withheld: number;
  /** Arrivals beyond the first of each message. */
  readonly repeats: number;
  /** The most repeats that what was in flight at the faults explains. */
  readonly bound: number;
  /** Repeats that nothing explains. */
  readonly unexplained: number;
  /** Came to the target after a younger one of their ordering key. */
  readonly overtaken: number;
}

export interface Judgement {
  readonly routes: readonly RouteJudgement[];
  /** The first messages of which something is wrong, with all that is known of them. */
  readonly findings: readonly string[];
  readonly strangers: readonly string[];
  readonly spoiled: readonly string[];
}

const MAX_FINDINGS = 25;

type Place = "target" | "outbox" | "dlq" | "lost" | "source" | "withheld";

/** Holds the auditor's book against where the messages are. */
export function judge(ledger: Ledger, routes: readonly RouteName[], mode: Mode, where: Whereabouts): Judgement {
  const [dlq, outbox] = [new Set(where.deadLetters), new Set(where.outbox)];
  const findings: string[] = [];
  const report = (id: string, entry: Entry | undefined, what: string): void => {
    if (findings.length < MAX_FINDINGS) findings.push(`${id}: ${what}${entry && ` (${historyOf(entry)})`}`);
  };
  const judged = routes.map((route): RouteJudgement => {
    const places: Record<Place, number> = { target: 0, outbox: 0, dlq: 0, lost: 0, source: 0, withheld: 0 };
    const sums = { offered: 0, accepted: 0, inBoth: 0, repeats: 0, bound: 0, unexplained: 0 };
    for (const [id, entry] of ledger.entries(route)) {
      sums.offered++;
      const allowed = allowedArrivals(entry, modeOf(route, mode));
      const unexplained = Math.max(0, entry.arrived - allowed);
      sums.repeats += Math.max(0, entry.arrived - 1);
      sums.bound += allowed - 1;
      sums.unexplained += unexplained;
      if (unexplained > 0) report(id, entry, `arrived ${entry.arrived} times, where ${allowed} are explained`);
      if (entry.arrived > 0 && dlq.has(id)) sums.inBoth++;
      if (!entry.accepted) continue;
      sums.accepted++;
      const place = placeOf(id, entry, { dlq, outbox });
      places[place]++;
      if (place === "lost" || place === "source" || place === "withheld") report(id, entry, SENTENCES[place]);
    }
    // What was given up may still come in, from a link that held it back.
    const alive = ledger.entries(route).filter(([id]) => !dlq.has(id));
    const overtaken = overtakenIn(alive, sourceOf(route) === "nats");
    for (const [id, by] of overtaken)
      report(id, ledger.find(id), `came after ${by}, which is younger and has the same key`);
    const { target: atTarget, outbox: inOutbox, dlq: inDlq, lost, source: atSource, withheld } = places;
    return { route, atTarget, inOutbox, inDlq, lost, atSource, withheld, overtaken: overtaken.length, ...sums };
  });
  return { routes: judged, findings, strangers: [...ledger.strangers], spoiled: [...ledger.spoiled] };
}

const SENTENCES = {
  lost: "LOST: its source was told to forget it, and it is nowhere",
  source: "still at its source when the torture ended",
  withheld: "accepted by the source's broker, which has never handed it over",
} as const;

/**
 * How often a message may arrive. A send whose confirmation may not have reached the bridge is to be repeated, in both
 * modes. In `direct_hold` so is whatever the source hands over again; in `shared_outbox` the outbox knows that it has it.
 */
function allowedArrivals(entry: Entry, mode: DeliveryMode): number {
  const given = mode === "direct_hold" ? Math.max(1, entry.handed) : 1;
  return given + entry.doubtful;
}

function placeOf(
  id: string,
  entry: Entry,
  { dlq, outbox }: { readonly dlq: ReadonlySet<string>; readonly outbox: ReadonlySet<string> },
): Place {
  if (entry.arrived > 0) return "target";
  if (outbox.has(id)) return "outbox";
  if (dlq.has(id)) return "dlq";
  if (entry.settled > 0) return "lost";
  return entry.handed > 0 ? "source" : "withheld";
}

function historyOf(entry: Entry): string {
  const { offers, handed, settled, sends, doubtful, arrived } = entry;
  return (
    `offered ${offers}, handed over ${handed}, settled ${settled}, sent ${sends}, in doubt ${doubtful}, arrived ${arrived}` +
    `; first offered at ${entry.offeredAt} ms, accepted at ${entry.acceptedAt} ms${at("handed over", entry.handedAt)}${at("settled", entry.settledAt)}` +
    `${at("sent", entry.sentAt)}${at("arrived", entry.arrivedAt)}`
  );
}

function at(what: string, ms: number): string {
  return ms < 0 ? "" : `, last ${what} at ${ms} ms`;
}
