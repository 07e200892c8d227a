import { ManualClock } from "@bridge/tooling/manual-clock";
import { expect, test } from "vitest";
import { RecentFacets } from "../src/internal.ts";

const REQUEST = { query: {}, by: ["routeId"], maxGroups: 10, buckets: 0 } as const;

test("operators 2: an answer that was kept says of when it is", async () => {
  const clock = new ManualClock();
  const recent = new RecentFacets(5_000, clock);
  const { signal } = new AbortController();
  let total = 0;
  const look = (fresh?: boolean) =>
    recent.get(
      { ...REQUEST, fresh },
      async () => ({ total: ++total, exact: true, counted: total, groups: [], moreGroups: false }),
      signal,
    );
  const countedAt = clock.now();
  expect(await look()).toMatchObject({ total: 1 });
  clock.advance(4_000);
  expect(await look()).toMatchObject({ total: 1, asOf: countedAt });
  clock.advance(2_000);
  expect(await look()).toMatchObject({ total: 2 });
  // Who acts on it is told what is there now, and so is everybody after that.
  expect(await look(true)).toMatchObject({ total: 3 });
  expect(await look(false)).toMatchObject({ total: 3, asOf: clock.now() });
});
