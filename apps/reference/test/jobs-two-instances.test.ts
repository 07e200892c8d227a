import { LONG } from "@bridge/tooling/long";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { completed, CONCURRENCY, ENTRIES, JobTwins, TTL_MS } from "./support/job-twins.ts";
import { jobNow } from "./support/told-jobs.ts";
import { until } from "./support/until.ts";

/** Without leases jobs are looked for so often. */
const LOOK_MS = 2_000;

describe.skipIf(noPostgres)("two instances on one PostgreSQL", () => {
  test("operators 3.5.3: the owner of a job is killed: the other goes on within lease_ttl, 2 s and a look", async () => {
    await using schema = await testSchema();
    await using twins = await JobTwins.open(schema);
    const job = await twins.atWork();
    expect(job).toMatchObject({ owner: "one", state: "running" });
    expect(twins.sentBy("other")).toBe(0);
    twins.run.one.kill("SIGKILL");
    await twins.run.one.ended;
    const killedAt = performance.now();
    await until(
      "taken over",
      () => twins.sentBy("other") > 0,
      () => twins.sentBy("other"),
    );
    const tookMs = performance.now() - killedAt;
    // A machine that does other things as well says nothing by its clock.
    if (LONG) expect(tookMs).toBeLessThanOrEqual(TTL_MS + 2_000 + LOOK_MS);
    await completed(twins, job);
  });

  test("operators 3.5.3: an owner that stood still until another had its job does nothing more for it when it goes on", async () => {
    await using schema = await testSchema();
    await using twins = await JobTwins.open(schema);
    const job = await twins.atWork();
    expect(job).toMatchObject({ owner: "one", state: "running" });
    twins.run.one.kill("SIGSTOP");
    await twins.taken(job);
    const before = twins.sentBy("one");
    twins.run.one.kill("SIGCONT");
    const done = await completed(twins, job);
    // What it had in its hands may have been on its way.
    expect(twins.sentBy("one") - before).toBeLessThanOrEqual(CONCURRENCY);
    expect(twins.sentBy("other")).toBeGreaterThanOrEqual(ENTRIES - before - CONCURRENCY);
    expect(await jobNow(twins.asking("one"), job)).toMatchObject({ state: "completed", progress: done.progress });
  });
});
