import { expect, test } from "vitest";
import { ask, eventually, probe } from "../test/support/ask.ts";
import { Folder, HTTP } from "../test/support/folder.ts";
import { Mosquitto } from "../test/support/mosquitto.ts";
import { publish } from "../test/support/publish.ts";
import { Subscriber } from "./support/subscriber.ts";
import { until } from "../test/support/until.ts";

test.each([5, 4])("what mosquitto_pub publishes, mosquitto_sub gets (MQTT version %d)", async (version) => {
  using folder = new Folder();
  await using broker = await Mosquitto.start(folder);
  folder.write(
    "bridge.yaml",
    `${HTTP}
bridge: {id: bridged}
sessions: [{id: broker, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:${broker.port}"], protocol_version: ${version}}}]
receivers: [{id: in, session_id: broker, topics: [{topic: "in/#"}]}]
senders: [{id: out, session_id: broker}]
bindings: [{id: to-out, sender_id: out, address: "out/{$subject}"}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`,
  );
  await using bridge = folder.run();
  const monitor = await bridge.url("monitor");
  await eventually(
    () => probe(monitor, "ready"),
    ({ status }) => status === 200,
  );

  const v5 = version === 5;
  const got: string[] = [];
  await using _ = await Subscriber.open({
    port: broker.port,
    topic: "out/#",
    args: v5 ? ["-V", "mqttv5"] : [],
    format: v5 ? "%t %p %P %C" : "%t %p",
    onLine: (line) => got.push(line),
  });
  const said = v5
    ? ["-V", "mqttv5", "-D", "publish", "user-property", "kind", "test", "-D", "publish", "content-type", "text/plain"]
    : [];
  await publish(broker.port, ["-t", "in/a/b", ...said], ["one", "zwei", "три"]);
  await until(
    "bridged",
    () => got.length === 3,
    () => got.length,
  );
  for (const [index, text] of ["one", "zwei", "три"].entries()) {
    expect(got[index]).toMatch(`out/in/a/b ${text}`);
    if (v5) expect(got[index]).toMatch(/kind:test.* text\/plain$/);
  }
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
  expect(await ask(monitor).catch(() => "nobody answers")).toBe("nobody answers");
});
