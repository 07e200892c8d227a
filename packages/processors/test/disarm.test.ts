import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

test("in a disarmed thread no value leads to a function that compiles text", async () => {
  const worker = new Worker(new URL("support/disarmed.ts", import.meta.url), { execArgv: [] });
  const [found] = (await once(worker, "message")) as [unknown];
  expect(found).toEqual({
    before: ["function", "async", "generator", "async generator", "built in"],
    after: [],
  });
  await worker.terminate();
});
