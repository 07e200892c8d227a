import type { Clock, ConfigStore, StagedConfig, StoredConfig } from "@bridge/ports";
import { formatTimestamp, Slices } from "@bridge/ports/internal";
import { type ReferenceSources, resolveReferences } from "../references.ts";

/**
 * More than a commit can take: a document that was staged so long ago was left behind by an instance that is gone, or that
 * will be refused its confirmation.
 */
const LEFT_BEHIND_MS = 5 * 60_000;

/** Epoch milliseconds: what was staged before was left behind. */
export function leftBehindBefore(clock: Clock): number {
  return clock.now() - LEFT_BEHIND_MS;
}

interface Place {
  readonly store: ConfigStore;
  readonly sources: ReferenceSources;
  readonly clock: Clock;
}

/** Why `base`, which was just loaded from the store, cannot be changed from here now; `undefined` when it can. */
export async function whyNotNow(base: StoredConfig, place: Place, signal: AbortSignal): Promise<string | undefined> {
  const { store, sources, clock } = place;
  if (store.staging !== undefined) return whyNotStaged(store.staging.seen, clock);
  // Instances that share what they carry need one configuration.
  const written = { bridge: base.document["bridge"] };
  const { document } = await resolveReferences(written, sources, signal, new Slices(clock));
  const { bridge } = document as { readonly bridge?: { readonly deployment_mode?: unknown } };
  if (bridge?.deployment_mode !== "clustered") return undefined;
  return `bridge.deployment_mode is clustered, and a commit to ${store.source} would reach this instance only, or others before it is known to run: change it where it comes from, or keep the configuration where instances share it, such as in DynamoDB`;
}

/** What is in the way of staging; `undefined` when nothing is. */
export function whyNotStaged(staged: StagedConfig | undefined, clock: Clock): string | undefined {
  if (staged === undefined || (staged.until ?? staged.at) < leftBehindBefore(clock)) return undefined;
  const { version, by, until } = staged;
  if (until !== undefined)
    return `version ${version} is on probation at the instance ${by} until ${formatTimestamp(until)}: confirm it or revert it there`;
  const since = formatTimestamp(staged.at);
  return `the instance ${by} has been committing version ${version} since ${since}: wait for its end; after ${LEFT_BEHIND_MS / 60_000} minutes it counts as left behind`;
}
