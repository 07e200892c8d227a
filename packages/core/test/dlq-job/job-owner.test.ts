import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { BoundingClock } from "../support/bounding-clock.ts";
import { begun, fill, started, until } from "./job-bridge.ts";

test("a store that never says how much is in its trash keeps no job waiting for good", async () => {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 100, clock });
  const { admin } = dlq;
  let asked = 0;
  const count: typeof admin.trash.count = (...given) =>
    ++asked === 1 ? new Promise(() => {}) : admin.trash.count(...given);
  const bridge = await started({ clock, dlq: { ...dlq, admin: { ...admin, trash: { ...admin.trash, count } } } });
  await clock.until(() => asked === 1);
  await fill(dlq, 3);
  const { id } = await begun(bridge);
  await clock.advance(20_000);
  expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: 3 });
  await bridge.supervisor.shutdown();
});
