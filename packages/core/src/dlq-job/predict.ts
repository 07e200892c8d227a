import { type Clock, type DeadLetter, type DeadLetterHead, RESERVED } from "@bridge/ports";
import { isSpoiled, isStillListed, orAborted, Slices } from "@bridge/ports/internal";
import { entryOrSpoiled } from "../dlq/entry-or-spoiled.ts";
import { askedFor } from "./asked-for.ts";
import type { Explainer } from "../route/explain.ts";
import type { PlannedEntry, Predicted, Prediction } from "./job-plan.ts";
import type { JobsStore } from "./job-parts.ts";

export interface PredictOptions {
  readonly store: JobsStore;
  readonly explainer: Explainer;
  /** What the job asks for. */
  readonly asks: Parameters<typeof askedFor>[1];
  readonly heads: readonly DeadLetterHead[];
  /** Where they all go, instead of the binding that failed. */
  readonly bindingId: string | undefined;
  /** No entry is begun with after it, by the monotonic clock in milliseconds. */
  readonly until: number;
  readonly clock: Clock;
}

const AT_ONCE = 8;
const SHOWN = 10;
const MAX_SUBJECT = 200;

export interface Predictions {
  readonly predicted: Prediction;
  readonly sample: readonly PlannedEntry[];
  /** Neither gone nor given: a job passes over so many of them, and leaves them where they are. */
  readonly lost: number;
}

/** What would become of the entries, each taken through its route without being sent. */
export async function predict(
  { store, explainer, asks, heads, bindingId, until, clock }: PredictOptions,
  signal: AbortSignal,
): Promise<Predictions> {
  const counts: Record<Predicted, number> = { deliverable: 0, expired: 0, filtered: 0, no_route: 0, failed: 0 };
  const keys = new Set<string>();
  const shown = new Map<DeadLetterHead, Pick<PlannedEntry, "outcome" | "address">>();
  const samples = new Set(spread(heads, SHOWN));
  const slices = new Slices(clock);
  let [examined, lost] = [0, 0];
  for (let start = 0; start < heads.length && clock.monotonic() < until; start += AT_ONCE) {
    const batch = heads.slice(start, start + AT_ONCE);
    const outcomes = await Promise.all(
      batch.map(async (head) => {
        const entry = await orAborted(entryOrSpoiled(store.get(head.id, signal)), signal);
        // Nobody delivers it, and it keeps nobody from the others.
        const failed = { head, key: undefined, address: undefined, outcome: "failed" as const };
        if (isSpoiled(entry)) return failed;
        if (entry === undefined) return { isLost: await isStillListed(store, head, signal) };
        if (isSpoiled(askedFor(entry, asks))) return failed;
        return { head, key: keyOf(entry), ...(await outcomeOf(explainer, entry, bindingId, signal)) };
      }),
    );
    for (const one of outcomes) {
      if ("isLost" in one) {
        if (one.isLost) lost++;
        continue;
      }
      examined++;
      counts[one.outcome]++;
      if (one.key !== undefined) keys.add(one.key);
      if (samples.has(one.head)) shown.set(one.head, { outcome: one.outcome, address: one.address });
    }
    if (slices.over) await slices.next();
  }
  const sample = [...samples].map((head) => ({ ...shownEntry(head), ...shown.get(head) }));
  return { predicted: { examined, ...counts, orderingKeys: keys.size }, sample, lost };
}

/** Some of them, from the first to the last. */
export function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, nth) => items[Math.floor((nth * items.length) / most)] as Item);
}

export function shownEntry({ id, subject, failedAt }: DeadLetterHead): PlannedEntry {
  return { id, subject: subject.slice(0, MAX_SUBJECT), failedAt };
}

function keyOf({ routeId, envelope }: DeadLetter): string | undefined {
  const key = envelope.headers[RESERVED.orderingKey];
  return key === undefined ? undefined : JSON.stringify([routeId, key]);
}

async function outcomeOf(
  explainer: Explainer,
  entry: DeadLetter,
  bindingId: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly outcome: Predicted; readonly address?: string | undefined }> {
  const explanation = await explainer.replay(entry, bindingId ?? entry.bindingId, signal);
  if (explanation === undefined) return { outcome: "no_route" };
  const { error, bindings } = explanation;
  if (error !== undefined) {
    if (error.class === "expired" || error.class === "filtered") return { outcome: error.class };
    return { outcome: error.code === "BINDING_UNRESOLVED" ? "no_route" : "failed" };
  }
  const [first] = bindings;
  if (first === undefined) return { outcome: "no_route" };
  return bindings.some((binding) => binding.error !== undefined)
    ? { outcome: "failed" }
    : { outcome: "deliverable", address: first.address };
}
