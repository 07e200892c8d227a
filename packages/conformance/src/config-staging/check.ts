import assert from "node:assert/strict";
import type { ConfigStaging, ConfigStore, StagedConfig, StagingRequest } from "@bridge/ports";
import { type ConfigStoreCheck, FIRST, loadOf, named } from "../config-store/check.ts";
import type { ConfigDocument } from "../config-store/config-store-subject.ts";

const NOON = Date.UTC(2026, 0, 1, 12);

/** By one instance at noon, when nothing that others have staged counts as left behind. */
export const BY_A = { by: "plant-7-a", at: NOON, leftBehindBefore: NOON - 60_000 };
/** By another one, a second later. */
export const BY_B = { ...BY_A, by: "plant-7-b", at: NOON + 1_000 };
/** By another one, so much later that whatever was staged at noon was left behind. */
export const LATER_BY_B = { by: "plant-7-b", at: NOON + 120_000, leftBehindBefore: NOON + 60_000 };

export function stagingOf(store: ConfigStore): ConfigStaging {
  assert.ok(store.staging !== undefined, "the store has no staging");
  return store.staging;
}

/** Stages over what is stored; it has to succeed. */
export async function stage(
  store: ConfigStore,
  signal: AbortSignal,
  { document = named("staged"), request = BY_A }: { document?: ConfigDocument; request?: StagingRequest } = {},
): Promise<StagedConfig> {
  const staged = await stagingOf(store).stage(document, await loadOf(store, signal), request, signal);
  assert.ok(staged !== undefined, "the staging was refused though nothing was in its way");
  return staged;
}

export { type ConfigStoreCheck, FIRST, loadOf, named };
