import { expect, test } from "vitest";
import { Folder, HTTP } from "../test/support/folder.ts";
import { Mosquitto } from "../test/support/mosquitto.ts";
import { publish } from "../test/support/publish.ts";
import { Subscriber } from "./support/subscriber.ts";
import { Tally } from "./support/tally.ts";
import { until } from "../test/support/until.ts";

const MESSAGES = 100_000;
/** Published by one process. */
const BATCH = 25_000;
const IN_FLIGHT = 100;
/** What was in flight, and what was settled in a turn of the event loop that the kill cut off. */
const REPEATS_A_KILL = 2 * IN_FLIGHT;
/** So many have arrived when the bridge is killed. */
const KILLS = [20_000, 45_000, 70_000];

test.each([
  { version: 5, ackOrder: "connection" },
  { version: 5, ackOrder: "any" },
  { version: 4, ackOrder: "connection" },
])(
  `${MESSAGES} messages at QoS 1, the bridge killed ${KILLS.length} times: all arrive, and few twice (MQTT version $version, ack_order $ackOrder)`,
  async ({ version, ackOrder }) => {
    using folder = new Folder();
    await using broker = await Mosquitto.start(folder);
    folder.write(
      "bridge.yaml",
      `${HTTP}
bridge: {id: killed}
sessions: [{id: broker, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:${broker.port}"], protocol_version: ${version}, ack_order: ${ackOrder}}}]
receivers: [{id: in, session_id: broker, topics: [{topic: in}]}]
senders: [{id: out, session_id: broker}]
bindings: [{id: to-out, sender_id: out, address: out}]
stores: {dlq: {type: memory, options: {acknowledge_volatile: true}}}
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {max_in_flight: ${IN_FLIGHT}}}]
`,
    );
    const tally = new Tally(MESSAGES);
    await using _ = await Subscriber.open({
      port: broker.port,
      topic: "out",
      format: "%p",
      onLine: (line) => tally.add(line),
    });
    let bridge = folder.run();
    try {
      // The broker knows the subscription from then on, and keeps what comes while nobody is there.
      await bridge.logged("session connected");
      await sourceConnected(bridge);
      const startedAt = performance.now();
      const published = publishAll(broker.port);
      published.catch(() => {});
      for (const arrived of KILLS) {
        await until(
          `${arrived} arrived`,
          () => tally.different >= arrived,
          () => tally.different,
        );
        bridge.kill("SIGKILL");
        expect(await bridge.ended).toBe("SIGKILL");
        bridge = folder.run();
      }
      await published;
      await until(
        "all arrived",
        () => tally.different === MESSAGES,
        () => tally.different,
      );
      const seconds = (performance.now() - startedAt) / 1_000;
      bridge.kill("SIGTERM");
      expect(await bridge.ended).toBe(0);

      console.log(
        `version ${version}, ack_order ${ackOrder}: ${MESSAGES} messages in ${seconds.toFixed(1)} s, ${tally.repeats} came twice over ${KILLS.length} kills`,
      );
      expect(tally.missing).toEqual([]);
      expect(tally.repeats).toBeLessThanOrEqual(KILLS.length * REPEATS_A_KILL);
    } finally {
      await bridge[Symbol.asyncDispose]();
    }
  },
);

async function sourceConnected(bridge: ReturnType<Folder["run"]>): Promise<void> {
  const connected = () => bridge.log.some(({ msg, role }) => msg === "session connected" && role === "source");
  await until("connected", connected, () => bridge.log.length);
}

async function publishAll(port: number): Promise<void> {
  for (let from = 0; from < MESSAGES; from += BATCH) await publish(port, ["-t", "in"], numbers(from, from + BATCH));
}

function* numbers(from: number, to: number): Generator<string> {
  for (let number = from; number < to; number++) yield String(number);
}
