import { PATIENCE } from "@bridge/tooling/patience";
import { type Clock, systemClock } from "@bridge/ports";
import * as v from "valibot";
import { expect, test, vi } from "vitest";
import { endpointFor } from "../src/index.ts";
import { type Action, KEY, startServer } from "./server.ts";

const SLOW = "/api/v1/admin/slow";
const OTHER = "/api/v1/admin/other";
const SHARED = "/api/v1/admin/shared";
type Path = typeof SLOW | typeof OTHER | typeof SHARED;
const endpoint = endpointFor<Action>();

/** A server that ends an answer when the test says so. */
async function slowServer(clock: Clock = systemClock) {
  const making: { readonly path: Path; readonly end: () => void }[] = [];
  const rows = ([SLOW, OTHER, SHARED] as const).map((path) =>
    endpoint({
      method: "GET",
      path,
      access: "admin",
      audit: "thing.read",
      isShared: path === SHARED,
      summary: "Takes its time.",
      answers: { 200: { description: "Done.", schema: v.object({ path: v.string() }) } },
    }).handle(async () => {
      const { promise, resolve: end } = Promise.withResolvers<void>();
      making.push({ path, end });
      await promise;
      return { status: 200, body: { path } };
    }),
  );
  const server = await startServer({ endpoints: rows, clock });
  return {
    server,
    ask: async (path: Path, signal?: AbortSignal): Promise<number> => {
      const response = await server.call(path, { headers: { "X-API-Key": KEY }, ...(signal && { signal }) });
      await response.text();
      return response.status;
    },
    /** Resolves when so many answers to `path` have begun, those that are made included. */
    begun: (path: Path, count: number) =>
      vi.waitFor(() => expect(making.filter((one) => one.path === path)).toHaveLength(count), PATIENCE),
    /** Makes the answers to `path` that have begun. */
    end: (path: Path): void => {
      for (const one of making) if (one.path === path) one.end();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Resolves when everything that was asked before is with the server: this, which nothing holds up, is answered after it. */
async function afterAll({ server }: Awaited<ReturnType<typeof slowServer>>): Promise<void> {
  for (let asked = 0; asked < 3; asked++) await server.call("/api/v1/admin/nothing");
}

test("two answers of an endpoint are made at once, the others in their turn, and nobody else waits for them", async () => {
  await using own = await slowServer();
  const slow = Array.from({ length: 5 }, () => own.ask(SLOW));
  await own.begun(SLOW, 2);
  const rest = [own.ask(OTHER), ...Array.from({ length: 4 }, () => own.ask(SHARED))];
  await Promise.all([own.begun(OTHER, 1), own.begun(SHARED, 4)]);
  await afterAll(own);
  for (const count of [2, 4, 5]) {
    await own.begun(SLOW, count);
    own.end(SLOW);
  }
  own.end(OTHER);
  own.end(SHARED);
  expect(await Promise.all([...slow, ...rest])).toEqual(Array.from({ length: 10 }, () => 200));
});

test("for a client that has gone before its turn nothing is made", async () => {
  await using own = await slowServer();
  const first = [own.ask(SLOW), own.ask(SLOW)];
  await own.begun(SLOW, 2);
  const leaving = new AbortController();
  const gone = Array.from({ length: 3 }, () => own.ask(SLOW, leaving.signal).catch(() => "gone"));
  await afterAll(own);
  leaving.abort();
  expect(await Promise.all(gone)).toEqual(["gone", "gone", "gone"]);
  await vi.waitFor(() => expect(own.server.entries.filter(({ refused }) => refused)).toHaveLength(3), PATIENCE);
  own.end(SLOW);
  expect(await Promise.all(first)).toEqual([200, 200]);
  const last = own.ask(SLOW);
  await own.begun(SLOW, 3);
  own.end(SLOW);
  expect(await last).toBe(200);
});

test("a client whose turn does not come is told so after 30 s, and its call is recorded as refused", async () => {
  const over: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) => {
      if (ms === 30_000) over.push(run);
      return systemClock.after(ms, run);
    },
  };
  await using own = await slowServer(clock);
  const first = [own.ask(SLOW), own.ask(SLOW)];
  await own.begun(SLOW, 2);
  const late = own.server.call(SLOW);
  await vi.waitFor(() => expect(over).toHaveLength(3), PATIENCE);
  over[2]?.();
  const response = await late;
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "5"]);
  expect(await response.json()).toEqual({ error: "too many ask for this: no turn came within 30 s, try again" });
  expect(own.server.entries).toMatchObject([{ action: "thing.read", outcome: "failure", refused: true }]);
  own.end(SLOW);
  expect(await Promise.all(first)).toEqual([200, 200]);
});
