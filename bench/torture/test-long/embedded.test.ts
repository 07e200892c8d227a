/** The bridge in code, from a RabbitMQ of the torture's own to a handler and to a web service. @module */
import { expect, test } from "vitest";
import { runTorture } from "../test/support/torture-process.ts";

test("a bridge in code, killed five times: nothing is lost, and nothing comes again without a reason", async () => {
  const run = await runTorture(..."--embedded --kills 5 --least-kills 3 --time-limit 240s".split(" "));
  console.log(run.stdout);
  expect(run.code).toBe(0);
});
