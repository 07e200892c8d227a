import { times } from "@bridge/tooling/long";
import { expect, test } from "vitest";
import { Folder, HTTP } from "./support/folder.ts";
import { fillLetters, lettersInFile } from "./support/letters.ts";
import { Shop } from "./support/shop.ts";
import { Stage } from "./support/stage.ts";
import { AT_ONCE, begun, reaches } from "./support/told-jobs.ts";

const ENTRIES = times(2_000, 50_000);
const CONCURRENCY = 16;
const RAMP = [1, 10, 100, 1_000];
/** Of the first two steps, in which nothing is refused. */
const BEFORE = 11;

test(`operators 3.5.1: ${ENTRIES} entries whose target refuses every 50th from step 3 on: halted by the end of that step, and resumed after the repair every entry is there`, async () => {
  const folder = new Folder();
  await using shop = await Shop.open();
  const letters = lettersInFile(`${folder.path}/dlq.db`);
  const ids = await fillLetters(letters, ENTRIES);
  await using stage = await Stage.run(
    `${HTTP}
bridge: {id: halting}
stores: {dlq: ${letters.block}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", allow_anonymous: true}}]
senders: [{id: out, transport: http, options: {url: "${shop.url}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {max_replay_attempts: 1, max_in_flight: ${CONCURRENCY}}}]
`,
    {},
    folder,
  );
  const ask = stage.admin.bind(stage);
  shop.refuses = () => shop.asked > BEFORE && shop.asked % 50 === 0;
  const job = await begun(ask, {
    ...AT_ONCE,
    concurrency: CONCURRENCY,
    ramp: RAMP,
    ramp_pause: "100ms",
    halt: { failure_ratio: 0.01 },
  });
  const halted = await reaches(ask, job, "halted");
  expect(halted).toMatchObject({
    halted: { why: "failure_ratio" },
    progress: { total: ENTRIES, skipped: 0, step: { index: 3 } },
  });
  expect(shop.asked).toBeLessThanOrEqual(BEFORE + 100);
  expect(shop.asked - (halted.halted?.attempts ?? 0)).toBeLessThanOrEqual(CONCURRENCY);
  expect(halted.progress).toMatchObject({ succeeded: shop.accepted.size, failed: shop.refused.length });
  expect(shop.refused.length).toBeGreaterThan(0);

  shop.refuses = () => false;
  const resumed = await ask("POST", `/dlq/jobs/${job.id}/resume`, { retry_failed: true });
  expect(resumed).toMatchObject({ status: 202, body: { attempt: 2 } });
  const done = await reaches(ask, job, "completed");
  expect(done.progress).toMatchObject({ total: ENTRIES, succeeded: ENTRIES, failed: 0, skipped: 0, in_doubt: 0 });
  expect(new Set(shop.accepted.keys())).toEqual(new Set(ids));
  expect(shop.repeated).toEqual([]);
  expect(await ask("GET", "/dlq/summary")).toMatchObject({ body: { total: 0 } });
});
