/** What `.ci/run` does for MQTT and HTTP, for the other brokers: a RabbitMQ and two NATS servers of the torture's own. @module */
import { expect, test } from "vitest";
import { runTorture } from "../test/support/torture-process.ts";

const FLAGS =
  "--source mqtt,amqp,nats --target mqtt,amqp,nats --mode both --kills 50 --least-kills 10 --time-limit 480s";

test("between RabbitMQ, NATS and MQTT, the bridge killed 50 times in both modes: nothing is lost", async () => {
  const run = await runTorture(...FLAGS.split(" "));
  console.log(run.stdout);
  expect(run.code).toBe(0);
});
