import { BridgeError, type LeaseRecord, type Logger, silentLogger } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { Lease } from "../../src/lease/lease.ts";
import { LeaseKeeper } from "../../src/lease/lease-keeper.ts";
import type { Written } from "../../src/lease/lease-writer.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

const TTL_MS = 20_000;

/** A keeper that has its lease, and is stopped; what it writes then is answered by `answer`. */
async function releasing(answer: (expected: LeaseRecord) => Written) {
  const released: LeaseRecord[] = [];
  const warn = vi.fn<Logger["warn"]>();
  const clock = new FakeClock();
  const lease = new Lease("s", "bridge/s");
  const writer = {
    read: () => Promise.resolve(undefined),
    write: (expected: LeaseRecord | undefined, next: LeaseRecord): Promise<Written> => {
      if (next.holder !== "") return Promise.resolve({ made: true });
      released.push(next);
      if (expected === undefined || released.length > 9) throw new BridgeError("INTERNAL", "it goes on for ever");
      return Promise.resolve(answer(expected));
    },
  } as unknown as ConstructorParameters<typeof LeaseKeeper>[0]["writer"];
  const keeper = new LeaseKeeper({
    lease,
    writer,
    holder: "me",
    timing: () => ({ leaseTtlMs: TTL_MS, leasePollIntervalMs: 1_000 }),
    count: { acquisitions: 0, losses: 0, yields: 0, failures: 0 },
    clock,
    logger: { ...silentLogger, warn },
  });
  const stop = new AbortController();
  const ended = keeper.run(stop.signal);
  while (!lease.held) await turn();
  stop.abort(new Error("stopped"));
  await ended;
  return { released, warnings: warn.mock.calls };
}

test.each<[string, (expected: LeaseRecord) => Written]>([
  ["was made", () => ({ made: true })],
  ["finds no record", () => ({ made: false, there: undefined })],
  ["finds another holder", (expected) => ({ made: false, there: { ...expected, holder: "another" } })],
  ["finds a later term", (expected) => ({ made: false, there: { ...expected, token: expected.token + 1 } })],
])("a release that %s is the last word", async (_, answer) => {
  const { released: written, warnings } = await releasing(answer);
  expect(written).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test("a release that finds a later beat of its own is tried once more, over that", async () => {
  const beats: number[] = [];
  const { released: written } = await releasing((expected) => {
    beats.push(expected.beat);
    return { made: false, there: { ...expected, beat: expected.beat + 100 } };
  });
  expect(written).toHaveLength(2);
  expect(beats).toEqual([1, 101]);
});
