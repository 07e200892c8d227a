import { PATIENCE } from "@bridge/tooling/patience";
import type { MonitorKeys } from "@bridge/http-monitor";
import { type LogFields, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { describe, expect, test, vi } from "vitest";
import { RefreshedKeys } from "../src/keys/refreshed-keys.ts";

const OLD = "old-key-0123456789";
const NEW = "new-key-0123456789";
const SOON = 20_000;

async function refreshed(read: (signal: AbortSignal) => Promise<MonitorKeys>) {
  const lines: { message: string; fields: LogFields | undefined }[] = [];
  const note = (message: string, fields?: LogFields): void => void lines.push({ message, fields });
  const logger = { ...silentLogger, info: note, error: note };
  const seams = { clock: systemClock, random: systemRandom(), logger };
  const keys = await RefreshedKeys.open({ ...seams, read, pollIntervalMs: 1 });
  return { keys, lines };
}

describe("keys that are read again and again", () => {
  test("are exchanged when they change, told once, and read no more after the end", async () => {
    let key = OLD;
    let reads = 0;
    const { keys, lines } = await refreshed(async () => {
      reads++;
      return { adminApiKey: key };
    });
    keys.start();
    expect(keys.keys.admin?.identify(OLD)).toBe("admin");
    key = NEW;
    await vi.waitFor(() => expect(keys.keys.admin?.identify(NEW)).toBe("admin"), PATIENCE);
    expect(keys.keys.admin?.identify(OLD)).toBeUndefined();
    const before = reads;
    await vi.waitFor(() => expect(reads).toBeGreaterThan(before + 2), PATIENCE);
    expect(lines).toEqual([{ message: "the keys have changed: the new ones are in force", fields: undefined }]);
    await keys.stop(AbortSignal.timeout(SOON));
    const after = reads;
    await systemClock.delay(10, new AbortController().signal);
    expect(reads).toBe(after);
  });

  test("that cannot be read, or are malformed, leave the last good ones in force: logged, counted, shown", async () => {
    let answer: () => MonitorKeys = () => ({ adminApiKey: OLD });
    const { keys, lines } = await refreshed(async () => answer());
    expect(keys.facts()).toMatchObject({ failures: 0 });
    keys.start();
    answer = () => {
      throw new Error("access is denied");
    };
    await vi.waitFor(() => expect(keys.facts()).toMatchObject({ lastError: "access is denied" }), PATIENCE);
    answer = () => ({ adminApiKey: "short" });
    await vi.waitFor(() => expect(keys.facts().lastError).toContain("too short"), PATIENCE);
    expect(keys.keys.admin?.identify(OLD)).toBe("admin");
    answer = () => ({ adminApiKey: OLD });
    await vi.waitFor(() => expect(keys.facts().lastError).toBeUndefined(), PATIENCE);
    expect(keys.facts().failures).toBeGreaterThan(1);
    expect(lines[0]?.message).toBe("the keys could not be read again: the last good ones stay in force");
    await keys.stop(AbortSignal.timeout(SOON));
  });

  test("that are being read when the end comes are not waited for", async () => {
    let first = true;
    const { keys } = await refreshed((signal) => {
      if (!first)
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      first = false;
      return Promise.resolve({ adminApiKey: OLD });
    });
    keys.start();
    await systemClock.delay(10, new AbortController().signal);
    await keys.stop(AbortSignal.timeout(SOON));
    expect(keys.facts()).toMatchObject({ failures: 0 });
  });
});
