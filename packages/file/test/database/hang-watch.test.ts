import { systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
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
});
