import assert from "node:assert/strict";
import type { ConfigProbations, ConfigStore, LeftProbation, Probation, StoredConfig } from "@bridge/ports";
import { assertStored, loadOf, named } from "../config-store/check.ts";
import type { ConfigPlace } from "../config-store/config-store-subject.ts";

/** Of version 5, over {@link FIRST}. */
export const PROBATION: Probation = {
  version: 5,
  formerVersion: 4,
  confirmBy: Date.UTC(2026, 0, 1, 12),
  actor: "alice",
  guard: { level: "full", levelForMs: 30_000, failureRatio: 0.05, minSends: 50 },
  routes: ["alarms"],
};

export function probationsOf(store: ConfigStore): ConfigProbations {
  assert.ok(store.probations !== undefined, "the store has no probations");
  return store.probations;
}

/** Another process on what the first has left. */
export async function nextProcess(place: ConfigPlace): Promise<ConfigStore> {
  assert.ok(place.reopen !== undefined, "the place has no reopen: what outlasts a process cannot be seen");
  return place.reopen();
}

/** What a process has stored, which it tries out. */
export interface Tried {
  readonly former: StoredConfig;
  readonly current: StoredConfig;
}

/** Puts `rejected` on probation; it has to succeed. */
export async function begin(store: ConfigStore, signal: AbortSignal): Promise<Tried> {
  const former = await loadOf(store, signal);
  const current = await probationsOf(store).begin(named("rejected"), former, PROBATION, signal);
  assert.ok(current !== undefined, "the write was refused though nobody had written");
  return { former, current };
}

/** What is left for `store`; there has to be something. */
export async function leftAt(store: ConfigStore, signal: AbortSignal): Promise<LeftProbation> {
  const left = await probationsOf(store).find(signal);
  assert.ok(left !== undefined, "nothing is found of what was on probation");
  assert.ok(!("runs" in left), "what a process has left is told as if that ran");
  assert.ok(!("replacedBy" in left), "what was on probation is told as if another hand had replaced it");
  return left;
}

/** What was on probation for `store` is told as replaced by what is stored now, and ended. */
export async function endsReplaced(store: ConfigStore, signal: AbortSignal): Promise<void> {
  const left = await probationsOf(store).find(signal);
  assert.ok(left !== undefined, "what was on probation is forgotten without a word");
  assert.ok("replacedBy" in left, "what another hand has replaced is told as if it could be taken back");
  const { version, formerVersion, actor } = left.probation;
  assert.deepEqual([version, formerVersion, actor], [PROBATION.version, PROBATION.formerVersion, PROBATION.actor]);
  assertStored(left.tried, named("rejected"), PROBATION.version);
  assert.deepEqual(left.replacedBy, await loadOf(store, signal));
  await probationsOf(store).end(signal);
}
