import { describe, expect, test } from "vitest";
import { eventually, probe } from "./support/ask.ts";
import { Folder, HTTP } from "./support/folder.ts";
import { Mosquitto, noMosquitto } from "./support/mosquitto.ts";
import { publish } from "./support/publish.ts";
import { Target } from "./support/target.ts";
import { until } from "./support/until.ts";

const documentOf = (port: number, target: string): string => `${HTTP}
bridge: {id: one-in-flight}
sessions:
  - id: broker
    transport: mqtt
    options: {broker_urls: ["mqtt://127.0.0.1:${port}"], client_id: one-in-flight}
receivers: [{id: in, session_id: broker, topics: [{topic: "in/#", qos: 1}]}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes:
  - id: only
    receiver_id: in
    bindings: [to-out]
    policy:
      max_in_flight: 1
      max_replay_attempts: 1000
      backoff: {initial_interval: 20ms, max_interval: 20ms}
      on_permanent_failure: drop
      on_expired: drop
`;

describe.skipIf(noMosquitto)("a route with one message in flight (needs Mosquitto)", () => {
  test("finding 6.3: hands all on in the order in which they were published, through retries", async () => {
    using folder = new Folder();
    await using broker = await Mosquitto.start(folder);
    await using target = await Target.open("refuses");
    folder.write("bridge.yaml", documentOf(broker.port, target.url));
    await using bridge = folder.run();
    const monitor = await bridge.url("monitor");
    await eventually(
      () => probe(monitor, "ready"),
      ({ status }) => status === 200,
    );
    const bodies = ["1", "2", "3", "4", "5"];
    await publish(broker.port, ["-t", "in/a"], bodies);
    await until(
      "tried in vain",
      () => target.asked > 3,
      () => target.asked,
    );
    target.manner = "accepts";
    await until(
      "all arrived",
      () => target.accepted.length >= bodies.length,
      () => target.asked,
    );
    expect(target.accepted).toEqual(bodies);
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });
});
