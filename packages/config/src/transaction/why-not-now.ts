import type { Clock, ConfigStore, StagedConfig, StoredConfig } from "@bridge/ports";
import { formatTimestamp, Slices } from "@bridge/ports/internal";
import { type ReferenceSources, resolveReferences } from "../references.ts";
import { bounded } from "./commit-parts.ts";
import { LEFT_BEHIND_MS, probationBeside, probationElsewhere } from "./probation-elsewhere.ts";
import type { ConflictReason } from "./transaction-error.ts";

/** Epoch milliseconds: what was staged before was left behind. */
export function leftBehindBefore(clock: Clock): number {
  return clock.now() - LEFT_BEHIND_MS;
}

/** From where a change is made. */
export interface Place {
  readonly store: ConfigStore;
  readonly sources: ReferenceSources;
  readonly clock: Clock;
  /** Names this instance to the others. */
  readonly instanceId: string;
}

/** What is in the way of a change. */
export interface InTheWay {
  readonly error: string;
  /** For programs. */
  readonly reason?: ConflictReason;
}

/** Why `base`, which was just loaded from the store, cannot be changed from here now; `undefined` when it can. */
export async function whyNotNow(base: StoredConfig, place: Place, signal: AbortSignal): Promise<InTheWay | undefined> {
  const { store, sources } = place;
  if (store.staging !== undefined) return whyNotStaged(store.staging.seen, place);
  const beside = await whyNotBeside(store, place.clock);
  if (beside !== undefined) return beside;
  // Instances that share what they carry need one configuration.
  const written = { bridge: base.document["bridge"] };
  const { document } = await resolveReferences(written, sources, signal, new Slices(place.clock));
  const { bridge } = document as { readonly bridge?: { readonly deployment_mode?: unknown } };
  if (bridge?.deployment_mode !== "clustered") return undefined;
  const error = `bridge.deployment_mode is clustered, and a commit to ${store.source} would reach this instance only, or others before it is known to run: change it where it comes from, or keep the configuration where instances share it, such as in DynamoDB`;
  return { error };
}

/**
 * What another process has on probation that writes the same document; `undefined` when none is known to. Never
 * rejects.
 */
export async function whyNotBeside(store: ConfigStore, clock: Clock): Promise<InTheWay | undefined> {
  const beside = await bounded(clock, async (signal) => store.probations?.elsewhere?.(signal)).catch(() => undefined);
  if (beside === undefined || beside.replaced) return undefined;
  return { error: probationBeside(beside.probation, store.source), reason: "probation" };
}

/** What is in the way of staging; `undefined` when nothing is. */
export function whyNotStaged(
  staged: StagedConfig | undefined,
  { clock, instanceId }: Pick<Place, "clock" | "instanceId">,
): InTheWay | undefined {
  if (staged === undefined || (staged.until ?? staged.at) < leftBehindBefore(clock)) return undefined;
  const { version, by, until } = staged;
  if (until !== undefined) return { error: probationElsewhere(staged, { clock, instanceId }), reason: "probation" };
  const since = formatTimestamp(staged.at);
  const error = `the instance ${by} has been committing version ${version} since ${since}: wait for its end; after ${LEFT_BEHIND_MS / 60_000} minutes it counts as left behind`;
  return { error };
}
