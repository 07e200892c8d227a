import { renameSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BridgeError, type Clock, silentLogger, systemClock } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { Checkpoints } from "../../src/database/checkpoints.ts";
import { sqliteLocation } from "../../src/database/sqlite-location.ts";
import { SyncGate } from "./support/gate.ts";
import { adding, Notes, removing, scratchFolder } from "./support/notes.ts";
import { tickingClock } from "./support/ticking-clock.ts";

test("while it is being closed nothing more is read, written or acknowledged, and what was being written is", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  const notes = new Notes({ path: scratch.path, sync: gate.sync });
  const last = notes.write(adding("a"));
  await gate.arrival();
  const closed = notes[Symbol.asyncDispose]();
  const said = new BridgeError("UNAVAILABLE", `${scratch.path} is closed`, { charged: false });
  expect(() => notes.ids()).toThrow(said);
  expect(() => notes.acknowledgeDamage()).toThrow(said);
  await expect(notes.write(adding("b"))).rejects.toThrow(said);
  await gate.pass();
  expect(await last).toBe("a");
  await closed;
});

test("a file that is closed asks the clock for nothing any more", async () => {
  using scratch = scratchFolder();
  let periods = 0;
  const every: Clock["every"] = (ms, tick) => {
    periods++;
    const timer = systemClock.every(ms, tick);
    return {
      [Symbol.dispose]() {
        periods--;
        timer[Symbol.dispose]();
      },
    };
  };
  const notes = new Notes({ path: scratch.path, clock: { ...systemClock, every } });
  expect(periods).toBeGreaterThan(1);
  await notes[Symbol.asyncDispose]();
  expect(periods).toBe(0);
});

test.each<[string, { readonly errcode?: number }, "reopened" | "kept"]>([
  ["the disk fails", { errcode: 10 }, "reopened"],
  ["the file is damaged", { errcode: 11 }, "reopened"],
  ["another program holds a lock", { errcode: 5 }, "kept"],
  ["the statement is wrong", { errcode: 1 }, "kept"],
  ["it has a mistake", {}, "kept"],
])("a query fails because %s: only for what is wrong with the file is that opened again", async (_, facts, becomes) => {
  using scratch = scratchFolder();
  const told: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => void told.push(message) };
  await using notes = new Notes({ path: scratch.path, logger });
  const failing = (): never => {
    throw Object.assign(new Error("it failed"), facts);
  };
  expect(() => notes.read(failing)).toThrow("it failed");
  expect(told).toEqual(becomes === "reopened" ? ["the file failed and is opened again"] : []);
});

const refused = {
  ...adding("none"),
  run(): string {
    throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
  },
};

test("a disk that has refused a write is written to again each ten seconds, once at a time, and is well when that lasts", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  const { clock, tick } = tickingClock();
  await using notes = new Notes({ path: scratch.path, clock, sync: gate.sync });
  await expect(notes.write(refused)).rejects.toThrow("the disk is full");
  const before = statSync(`${scratch.path}-wal`).size;
  tick();
  await gate.arrival();
  tick();
  await gate.pass();
  await expect.poll(() => notes.health().fault).toBeUndefined();
  await new Promise((resolve) => setImmediate(resolve));
  expect(gate.count).toBe(1);
  expect(statSync(`${scratch.path}-wal`).size).toBeGreaterThan(before);
  // It is asked no more, until it refuses something again.
  tick();
  await new Promise((resolve) => setImmediate(resolve));
  expect(gate.count).toBe(1);
  await expect(notes.write(refused)).rejects.toThrow("the disk is full");
  tick();
  await gate.pass();
  await expect.poll(() => notes.health().fault).toBeUndefined();
});

test("a file whose lock goes while a group is made durable confirms none of it", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  const { clock, tick } = tickingClock();
  await using notes = new Notes({ path: scratch.path, clock, sync: gate.sync });
  const written = notes.write(adding("a"));
  await gate.arrival();
  rmSync(`${scratch.path}-lock`);
  tick();
  const [said] = await Promise.all([written.catch(String), gate.pass()]);
  expect(said).toContain("was deleted, moved away or replaced");
});

test("a file that is elsewhere holds within a second what is still written to it", async () => {
  using scratch = scratchFolder();
  const { clock, tick } = tickingClock();
  await using notes = new Notes({ path: scratch.path, clock });
  await notes.write(adding("a"));
  await notes.write(adding("b"));
  const elsewhere = `${scratch.path}-elsewhere`;
  renameSync(scratch.path, elsewhere);
  tick();
  await notes.write(removing("a"));
  tick();
  using moved = new DatabaseSync(sqliteLocation(elsewhere), { readOnly: true });
  expect(moved.prepare("SELECT id FROM note").all()).toEqual([{ id: "b" }]);
});

test("a disk without room has no log brought into what is in the place of a file that is gone", async () => {
  using scratch = scratchFolder();
  const { clock, tick } = tickingClock();
  using asked = vi.spyOn(Checkpoints.prototype, "refused");
  await using notes = new Notes({ path: scratch.path, clock });
  await notes.write(adding("a"));
  const withoutRoom = { ...refused, frees: true };
  await expect(notes.write(withoutRoom)).rejects.toThrow("the disk is full");
  expect(asked).toHaveBeenCalledOnce();
  rmSync(scratch.path);
  tick();
  await expect(notes.write(withoutRoom)).rejects.toThrow("the disk is full");
  expect(asked).toHaveBeenCalledOnce();
});

test("a file holds max_bytes with the byte that reaches it, and a job is not charged for that", async () => {
  using scratch = scratchFolder();
  await new Notes({ path: scratch.path })[Symbol.asyncDispose]();
  const maxBytes = statSync(scratch.path).size;
  const full = `${scratch.path} holds max_bytes ${maxBytes}: delete notes, or raise max_bytes`;
  {
    await using notes = new Notes({ path: scratch.path, maxBytes });
    await expect(notes.write(adding("a"))).rejects.toMatchObject({ message: full, charged: false });
  }
  await using roomy = new Notes({ path: scratch.path, maxBytes: maxBytes + 1 });
  expect(await roomy.write(adding("a"))).toBe("a");
});
