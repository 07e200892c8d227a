import { setTimeout as sleep } from "node:timers/promises";
import type { PlannedMessage, Scenario } from "../scenario.ts";
import { connectTo } from "../../../torture/src/auditor/mqtt-source.ts";
import { headerOf, type Names, numberIn, payloadOf, REFUSED, sourceOf, TAKEN } from "./names.ts";
import type { RealStage } from "./stage.ts";

const PROBE_TIMEOUT_MS = 10_000;

/** The source of one scenario at its broker. */
export interface RealSource {
  /** Resolves when the broker has it. */
  publish(message: PlannedMessage): Promise<void>;
  /** What the broker still has for the bridge, which has ended; it is taken away. */
  left(): Promise<readonly number[]>;
  /** Nothing of it is left at the broker. */
  remove(): Promise<void>;
}

export async function openSource(stage: RealStage, names: Names, scenario: Scenario): Promise<RealSource> {
  return scenario.source === "mqtt" ? mqttSource(stage, names) : amqpSource(stage, names);
}

function headersOf({ key, refused }: PlannedMessage): Record<string, string> {
  return {
    ...Object.fromEntries(refused.map((code, index) => [headerOf(index), code === undefined ? TAKEN : REFUSED])),
    ...(key !== undefined && { "ordering-key": `key ${key}` }),
  };
}

function idOf({ run }: Names, number: number): string {
  return `${run}-${number}`;
}

function mqttSource({ mqtt, mosquitto }: RealStage, names: Names): RealSource {
  const topic = sourceOf(names);
  /** Takes the bridge's place: a session is whose client id it is. */
  const instead = async (read: (payload: Buffer) => void): Promise<void> => {
    const client = await connectTo(mosquitto.port, `${names.run}-source`);
    const probe = `probe/${names.run}`;
    const probed = Promise.withResolvers<void>();
    client.on("message", (from, payload) => (from === probe ? probed.resolve() : read(payload)));
    await client.subscribeAsync(probe, { qos: 1 });
    // What waited for the client came before this.
    await client.publishAsync(probe, "", { qos: 1 });
    await Promise.race([probed.promise, sleep(PROBE_TIMEOUT_MS)]);
    await client.endAsync(true);
  };
  return {
    async publish(message) {
      const userProperties = { "message-id": idOf(names, message.number), ...headersOf(message) };
      await mqtt.publishAsync(topic, payloadOf(names, message.number), { qos: 1, properties: { userProperties } });
    },
    async left() {
      const found = new Set<number>();
      await instead((payload) => found.add(numberIn(names, payload) ?? -1));
      return [...found];
    },
    remove: async () => {},
  };
}

async function amqpSource({ amqp }: RealStage, names: Names): Promise<RealSource> {
  const queue = sourceOf(names);
  await amqp.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
  return {
    publish: (message) =>
      new Promise((resolve, reject) => {
        const properties = { messageId: idOf(names, message.number), headers: headersOf(message), persistent: true };
        amqp.publish("", queue, payloadOf(names, message.number), properties, (error: Error | null) =>
          error === null ? resolve() : reject(error),
        );
      }),
    async left() {
      const found: number[] = [];
      for (;;) {
        const message = await amqp.get(queue, { noAck: true });
        if (message === false) return found;
        found.push(numberIn(names, message.content) ?? -1);
      }
    },
    async remove() {
      await amqp.deleteQueue(queue);
    },
  };
}
