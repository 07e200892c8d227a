import { BridgeError, type Logger, silentLogger, type TellsHealth } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { StoreHandle } from "../../src/supervisor/store-handle.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

type Store = AsyncDisposable & TellsHealth;

const away = new BridgeError("CONNECTION_LOST", "connection refused");
const refused = new Error("the tables are of version 1");
const well = (changes: Partial<Store> = {}): Store => ({ async [Symbol.asyncDispose]() {}, ...changes });

/** A store that opens as `tries` says, the last of which counts for all that follow. */
function handleOf(
  tries: readonly (Error | Store)[],
  awaited = true,
  look: () => Promise<() => void> = async () => () => {},
) {
  const [clock, told] = [new BoundingClock(), [] as string[]];
  const line = (text: string) => void told.push(text);
  const logger: Logger = { ...silentLogger, error: line, info: line };
  let opened = 0;
  const handle = new StoreHandle<Store>({
    clock,
    logger,
    random: { next: () => 0.5, id: () => "id" },
    role: "dlq",
    block: { type: "test", reach: "process", options: {} },
    open: async () => {
      const one = tries[Math.min(opened++, tries.length - 1)];
      if (one === undefined || one instanceof Error) throw one ?? new Error("it opens never");
      return one;
    },
    awaited,
    look,
  });
  return { handle, clock, told, opened: () => opened };
}

describe("a store that is refused", () => {
  test("while somebody waits to hear that is given up: it is not tried again", async () => {
    const { handle, clock, opened, told } = handleOf([refused]);
    await expect(handle.refused(2_000, bound())).rejects.toBe(refused);
    await clock.advance(120_000);
    expect([opened(), told]).toEqual([1, []]);
    await handle[Symbol.asyncDispose]();
  });

  test("when nobody waits for it any more is tried until it opens, and then the log says that it is up", async () => {
    const { handle, clock, opened, told } = handleOf([away, refused, well()]);
    await handle.refused(2_000, bound());
    await clock.advance(120_000);
    expect([opened(), handle.store === undefined, handle.view().state]).toEqual([3, false, "up"]);
    const tried = "store not open: tried again, and what needs it waits";
    expect(told).toEqual([tried, tried, "store up again"]);
    await handle[Symbol.asyncDispose]();
  });
});

test("who waits for a store hears at once that it is open", async () => {
  const { handle, clock } = handleOf([well()]);
  const before = clock.now();
  await handle.refused(2_000, bound());
  expect([clock.now(), handle.view()]).toMatchObject([before, { state: "up", open: true }]);
  await handle[Symbol.asyncDispose]();
});

test("a store that is closed is lent to nobody, and is looked at no more", async () => {
  let closed = 0;
  const { handle, clock } = handleOf([
    well({
      async [Symbol.asyncDispose]() {
        closed++;
      },
    }),
  ]);
  await handle.refused(2_000, bound());
  const closing = handle[Symbol.asyncDispose]();
  expect(handle.store).toBeUndefined();
  await closing;
  expect([closed, clock.pending]).toEqual([1, 0]);
});

test("one that others are about to use is opening until it has answered the last who asked for that", async () => {
  const asked: PromiseWithResolvers<void>[] = [];
  const prove = () => {
    const answer = Promise.withResolvers<void>();
    asked.push(answer);
    return answer.promise;
  };
  const { handle } = handleOf([well({ prove })]);
  await handle.refused(2_000, bound());
  const state = async () => {
    await turn();
    return handle.view().state;
  };
  expect(await state()).toBe("up");
  handle.doubt();
  handle.doubt();
  asked[0]?.resolve();
  expect(await state()).toBe("opening");
  asked[1]?.resolve();
  expect(await state()).toBe("up");
  await handle[Symbol.asyncDispose]();
});

test("who waits for a store and gives up is told that, not that the store is there", async () => {
  const { handle } = handleOf([well()]);
  const over = AbortSignal.abort(new BridgeError("CONNECTION_LOST", "the process ends"));
  await expect(handle.refused(2_000, over)).rejects.toThrow("the process ends");
  await handle[Symbol.asyncDispose]();
});

test("the log says once that a store is up again, not each time that somebody has doubted it", async () => {
  let fault: string | undefined = "disk full";
  const { handle, told } = handleOf([
    well({
      async prove() {},
      health: () => ({ setAside: [], ...(fault !== undefined && { fault }) }),
    }),
  ]);
  await handle.refused(2_000, bound());
  expect(handle.view().state).toBe("faulty");
  fault = undefined;
  expect(handle.view().state).toBe("up");
  handle.doubt();
  expect(handle.view().state).toBe("opening");
  await turn();
  expect(handle.view().state).toBe("up");
  expect(told).toEqual(["store faulty: what needs it waits", "store up again"]);
  await handle[Symbol.asyncDispose]();
});

test("a store that is closed while it is looked at is entered into no books", async () => {
  for (let turns = 0; turns < 8; turns++) {
    let isClosed = false;
    const entered: boolean[] = [];
    const looked = Promise.withResolvers<() => void>();
    const { handle } = handleOf([well()], true, () => looked.promise);
    await turn();
    looked.resolve(() => void entered.push(isClosed));
    for (let one = 0; one < turns; one++) await Promise.resolve();
    isClosed = true;
    await handle[Symbol.asyncDispose]();
    expect([turns, entered.includes(true)]).toEqual([turns, false]);
  }
});
