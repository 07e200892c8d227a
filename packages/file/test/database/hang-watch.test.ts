import { systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { HangWatch } from "../../src/database/hang-watch.ts";
import { adding, Notes, scratchFolder } from "./support/notes.ts";

describe("a disk that does not come back from a sync", () => {
  test("is told while it lasts, and what was written is confirmed when it does", async () => {
    using folder = scratchFolder();
    const gone = Promise.withResolvers<void>();
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    let hangs = false;
    const sync = async (): Promise<void> => (hangs ? gone.promise : undefined);
    await using notes = new Notes({ path: folder.path, clock, sync });
    await notes.write(adding("before"));
    hangs = true;
    const written = notes.write(adding("meanwhile"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    now = 4_000;
    expect(notes.health().fault).toBeUndefined();
    now = 6_000;
    expect(notes.health().fault).toMatch(/notes\.db: the disk does not answer/);
    gone.resolve();
    expect(await written).toBe("meanwhile");
    expect(notes.health().fault).toBeUndefined();
  });

  test("is told after five seconds, while it lasts, and only then", async () => {
    let now = 1_000;
    const watch = new HangWatch("notes.db", { ...systemClock, monotonic: () => now });
    expect(watch.fault).toBeUndefined();
    const gone = Promise.withResolvers<string>();
    const done = watch.during(() => gone.promise);
    now = 5_999;
    expect(watch.fault).toBeUndefined();
    now = 6_000;
    expect(watch.fault).toMatchObject({
      code: "UNAVAILABLE",
      charged: false,
      message: expect.stringMatching(/^notes\.db: the disk does not answer: check it/) as string,
    });
    gone.resolve("done");
    expect(await done).toBe("done");
    expect(watch.fault).toBeUndefined();
    await expect(watch.during(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    now = 60_000;
    expect(watch.fault).toBeUndefined();
  });
});
