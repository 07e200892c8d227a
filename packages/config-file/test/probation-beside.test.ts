import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Probation } from "@bridge/ports";
import { expect, it } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { documentFolder } from "./support/document-folder.ts";
import { triedElsewhere } from "./support/tried-elsewhere.ts";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;
const FORMER = "# ours\nconfig_version: 41\nbridge: {id: plant-7} # here\n";
const PROBATION: Probation = { version: 42, formerVersion: 41, confirmBy: 0, actor: "alice", routes: [] };
const MINE = { bridge: { log_level: "debug" } };
const ON_PROBATION = expect.objectContaining({ kind: "conflict", reason: "probation" }) as Error;
const NOT_HERE = expect.objectContaining({ kind: "conflict", reason: "no_probation" }) as Error;

const here = documentFolder(FORMER);

const note = (): string => readFileSync(here.note, "utf8");

/** A process beside the one that tries something out. */
const beside = () => trying(here.folder, { store: openConfigFile(here.path), settled: undefined });

/** What the next process finds, and makes of it. */
async function nextStart() {
  const start = await here.start();
  await start.store[Symbol.asyncDispose]();
  return start;
}

const TAKEN_BACK = {
  settled: { reverted: { version: 42, why: "process_ended" } },
  history: [{ version: 42, reverted: { why: "process_ended" } }],
};

it.each([["for good", undefined] as const, ["on probation", { withinMs: 10_000 }] as const])(
  "spec 4.9.8: a transaction that is committed %s at another process on the file: 409 `probation`, and a kill of the one that tries a change out still takes it back",
  async (_, trial) => {
    await using other = beside();
    const { id } = await other.transactions.open(60_000, NEVER);
    await other.transactions.patch(id, MINE, NEVER);
    await using first = await triedElsewhere(here.path, PROBATION);
    const [tried, noted] = [readFileSync(here.path, "utf8"), note()];
    const committed = await other.transactions.commit(id, "bob", trial);
    expect(committed).toMatchObject({ status: "conflict", reason: "probation" });
    expect(JSON.stringify(committed)).toMatch(
      /version 42 of .* another process .* confirm or revert it there; .*revert it here/,
    );
    expect([readFileSync(here.path, "utf8"), note()]).toEqual([tried, noted]);
    await first.kill();
    expect(await nextStart()).toMatchObject(TAKEN_BACK);
    expect(readFileSync(here.path, "utf8")).toBe(FORMER);
  },
);

it("spec 4.9.8: a transaction is opened at another process on the file: 409 `probation`, until the change is over", async () => {
  await using other = beside();
  {
    await using first = await triedElsewhere(here.path, PROBATION);
    await expect(other.transactions.open(60_000, NEVER)).rejects.toEqual(ON_PROBATION);
    await first.kill();
    await expect(other.transactions.open(60_000, NEVER)).rejects.toEqual(ON_PROBATION);
  }
  await nextStart();
  expect(await other.tryOut(MINE)).toBe(43);
});

it("spec 4.9.8: whoever begins a change while another process has one on probation writes nothing, and takes no note away", async () => {
  await using first = await triedElsewhere(here.path, PROBATION);
  const [tried, noted] = [readFileSync(here.path, "utf8"), note()];
  await using store = openConfigFile(here.path);
  const stored = await store.load(NEVER);
  if (stored === undefined) throw new Error("there is nothing");
  const mine = { ...PROBATION, version: 43, formerVersion: 42 };
  expect(await store.probations.begin(MINE, stored, mine, NEVER)).toBeUndefined();
  await store.probations.end(NEVER);
  expect([readFileSync(here.path, "utf8"), note()]).toEqual([tried, noted]);
  await first.kill();
  expect(await nextStart()).toMatchObject(TAKEN_BACK);
});

it("spec 4.9.8: confirm and revert at another process on the file: 409 `no_probation`, which says where it is", async () => {
  await using other = beside();
  await using _ = await triedElsewhere(here.path, PROBATION);
  const told = (error: unknown): unknown => error;
  const answers = [
    await other.transactions.confirm(42).catch(told),
    await other.transactions.revert(42, "it is too loud").catch(told),
  ];
  expect(answers).toEqual([NOT_HERE, NOT_HERE]);
  for (const answer of answers) expect(String(answer)).toMatch(/on probation in another process/);
  expect([other.applied, other.transactions.probation()]).toEqual([[], undefined]);
});

it.each([
  ["is the one that whoever committed it was told", 600, 10_000],
  ["comes later for whoever committed it when half of its time was over before it ran", 8_000, 13_000],
])(
  "spec 4.9.8: the end of a change on probation that another process on the file tells %s",
  async (_, swapMs, endsIn) => {
    await using stage = trying(here.folder);
    const confirmBy = stage.clock.now() + endsIn;
    stage.swap.ms = swapMs;
    await stage.tryOut(MINE);
    await using second = openConfigFile(here.path);
    const told = (await second.probations.elsewhere?.(NEVER))?.probation.confirmBy;
    expect(stage.transactions.probation()?.confirmBy).toBe(confirmBy);
    expect(told).toBe(Math.min(confirmBy, stage.clock.now() - swapMs + 10_000));
  },
);

it("spec 4.9.8: when the process that tried a change out is gone, another one on the file reverts it: the former one runs and is stored", async () => {
  await using other = beside();
  const first = await triedElsewhere(here.path, PROBATION);
  await first.kill();
  expect(await other.transactions.revert(42, "its process is gone")).toEqual({ status: "rolled_back", version: 41 });
  expect([readFileSync(here.path, "utf8"), existsSync(`${here.path}.probation`)]).toEqual([FORMER, false]);
  expect(other.applied.map(({ configVersion }) => configVersion)).toEqual([41]);
  expect(other.reverted).toMatchObject([{ version: 42, why: "operator", detail: "its process is gone" }]);
  const { settled, history } = await nextStart();
  expect([settled, history]).toMatchObject([
    undefined,
    [{ version: 42, committedAt: 1, reverted: { why: "operator" } }],
  ]);
  await expect(other.transactions.revert(42, "once more")).rejects.toMatchObject({ reason: "reverted" });
});

it("spec 4.9.8: what was put back when its process died is settled by a revert at another one, for the reason it had", async () => {
  await using other = beside();
  const first = await triedElsewhere(here.path, PROBATION);
  await first.kill();
  writeFileSync(here.note, JSON.stringify({ ...here.noted(), reversal: { why: "not_confirmed" } }));
  writeFileSync(here.path, FORMER);
  expect(await other.transactions.revert(42, "its process is gone")).toEqual({ status: "rolled_back", version: 41 });
  expect(other.reverted).toMatchObject([{ version: 42, why: "not_confirmed" }]);
  expect(await nextStart()).toMatchObject({ settled: undefined, history: [{ reverted: { why: "not_confirmed" } }] });
});

it("operating: each commit of the history has a version of its own, also one that is confirmed in the history alone: it stays", async () => {
  const first = await triedElsewhere(here.path, PROBATION);
  await first.kill();
  await using store = openConfigFile(here.path);
  await store.history.append({ version: 42, committedAt: 1, actor: "alice", changes: [] }, NEVER);
  const { settled, history } = await nextStart();
  expect(settled).toBeUndefined();
  expect(history).toEqual([{ version: 42, committedAt: 1, actor: "alice", changes: [] }]);
  expect(readFileSync(here.path, "utf8")).not.toBe(FORMER);
});

it("operating: each commit of the history has a version of its own, also one whose process died when it had said that it took it back", async () => {
  const first = await triedElsewhere(here.path, PROBATION);
  await first.kill();
  const reverted = { at: 2, why: "not_confirmed" };
  writeFileSync(here.note, JSON.stringify({ ...here.noted(), reversal: { why: "not_confirmed" } }));
  writeFileSync(here.path, FORMER);
  await using store = openConfigFile(here.path);
  await store.history.append({ version: 42, committedAt: 1, actor: "alice", changes: [], reverted }, NEVER);
  const { history } = await nextStart();
  expect(history).toEqual([{ version: 42, committedAt: 1, actor: "alice", changes: [], reverted }]);
});
