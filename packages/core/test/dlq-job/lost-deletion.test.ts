import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, entryOf, fill, started, stored, until } from "./job-bridge.ts";

const COUNT = 40;

/** A bridge whose store deletes, as long as `view.isCut`, as `view.does` says, and answers nothing. */
async function cut() {
  const clock = new FakeClock();
  const inner = openMemoryDlq({ maxEntries: 1_000, clock });
  const view = { isCut: true, does: true, lost: new Set<string>() };
  const { admin } = inner;
  const dlq: DlqStore = {
    ...inner,
    admin: {
      ...admin,
      trash: admin.trash,
      delete: async (ids, signal, options) => {
        if (!view.isCut) return admin.delete(ids, signal, options);
        if (view.does) await admin.delete(ids, signal, options);
        for (const id of ids) view.lost.add(id);
        throw new BridgeError("CONNECTION_LOST", "the answer is lost");
      },
    },
  };
  const bridge = await started({ clock, dlq });
  await fill(dlq, COUNT);
  const heal = async (): Promise<void> => {
    await clock.until(() => view.lost.size > 0);
    await clock.advance(3_000);
    view.isCut = false;
  };
  return { bridge, dlq, view, heal };
}

test("spec 2.16: what is delivered and deleted counts as succeeded, also when the answer of the deletion is lost", async () => {
  const { bridge, dlq, heal } = await cut();
  const { id } = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 6 } });
  await heal();
  const done = await until(bridge, id, "completed");
  expect(bridge.hub.channel("out").arrived).toBe(COUNT);
  expect(done.counts).toMatchObject({ succeeded: COUNT, skipped: 0, failed: 0, inDoubt: 0 });
  expect(await stored(dlq)).toEqual([]);
  await bridge.supervisor.shutdown();
});

test("spec 2.16: so it does when the message has failed once more by then, which stays", async () => {
  const { bridge, dlq, view, heal } = await cut();
  const { id } = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 1 } });
  await bridge.clock.until(() => view.lost.size > 0);
  await dlq.put(entryOf(0, { failedAt: bridge.clock.now() + 60_000 }), bound());
  await heal();
  const done = await until(bridge, id, "completed");
  expect(done.counts).toMatchObject({ succeeded: COUNT, skipped: 0 });
  expect(await stored(dlq)).toEqual(["e00000"]);
  await bridge.supervisor.shutdown();
});

test("spec 4.10.4: what is delivered is deleted, also when it was quarantined before its store did that", async () => {
  const { bridge, dlq, view, heal } = await cut();
  view.does = false;
  const { id } = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 1 } });
  await bridge.clock.until(() => view.lost.size > 0);
  await dlq.marks?.mark(new Map([["e00000", { quarantined: true }]]), bound());
  await heal();
  const done = await until(bridge, id, "completed");
  expect(bridge.hub.channel("out").arrived).toBe(COUNT);
  expect(done.counts).toMatchObject({ succeeded: COUNT, skipped: 0 });
  expect(await stored(dlq)).toEqual([]);
  await bridge.supervisor.shutdown();
});

test.each(["redrive", "redriveEntry"] as const)(
  "spec 4.10.5: what is delivered and not deleted, and has gone into the trash since, %s takes out of it: an undo does not bring it back",
  async (call) => {
    const { bridge, dlq, view } = await cut();
    const { supervisor, clock } = bridge;
    const { id } = entryOf(0);
    const again = (): Promise<unknown> =>
      call === "redrive" ? supervisor.redrive([id], bound()) : supervisor.redriveEntry(id, undefined, bound());
    view.does = false;
    await again();
    expect(bridge.hub.channel("out").arrived).toBe(1);
    const purge = await begun(bridge, { kind: "purge", undoWithinMs: 3_600_000 });
    await until(bridge, purge.id, "completed");
    expect(JSON.stringify(await again())).toContain(
      call === "redrive" ? "delivered, entry not deleted" : "not_deleted",
    );
    view.isCut = false;
    await again();
    await supervisor.jobs().ask(purge.id, { call: "undo" }, bound());
    await until(bridge, purge.id, "undone");
    expect(await stored(dlq)).toHaveLength(COUNT - 1);
    expect(await stored(dlq)).not.toContain(id);
    await clock.advance(1_000);
    await supervisor.shutdown();
  },
);

test("spec 4.6.10, 4.12.1: asked for once more, an entry that was delivered and is gone is told as redriven already", async () => {
  const { bridge, view } = await cut();
  const { supervisor, clock } = bridge;
  const [first, second] = [entryOf(0).id, entryOf(1).id];
  const both = Promise.all([supervisor.redrive([first], bound()), supervisor.redriveEntry(second, undefined, bound())]);
  await clock.until(() => view.lost.size === 2);
  expect(await both).toMatchObject([{ errors: [{ error: "delivered, entry not deleted" }] }, { kind: "not_deleted" }]);
  view.isCut = false;
  const again = await supervisor.redrive([first], bound());
  expect(again.errors).toEqual([{ id: first, error: "entry already redriven or concurrently deleted" }]);
  expect(await supervisor.redriveEntry(second, undefined, bound())).toEqual({ kind: "busy" });
  expect(bridge.hub.channel("out").arrived).toBe(2);
  // Once told, it is an id like any other.
  expect(await supervisor.redriveEntry(second, undefined, bound())).toEqual({ kind: "missing" });
  await supervisor.shutdown();
});
