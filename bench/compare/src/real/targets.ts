import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ErrorCode } from "@bridge/ports";
import { bindingOf, type Scenario } from "../scenario.ts";
import { legOf } from "../outcome.ts";
import { type Names, numberIn, queueOf, TAKEN, topicOf } from "./names.ts";
import type { RealStage } from "./stage.ts";

/** What a web service answers to make it that error. */
const STATUS: Partial<Readonly<Record<ErrorCode, number>>> = {
  INVALID_PAYLOAD: 400,
  NOT_AUTHORIZED: 401,
  FORBIDDEN: 403,
  DESTINATION_NOT_FOUND: 404,
  REJECTED: 409,
  PAYLOAD_TOO_LARGE: 413,
  SCHEMA_VIOLATION: 422,
  THROTTLED: 429,
  UNAVAILABLE: 503,
};

export interface RealTargets extends AsyncDisposable {
  /** Where each is, without a link. */
  readonly ports: readonly number[];
  /** How often what has come where. */
  readonly arrivals: ReadonlyMap<string, number>;
}

/** The targets of one scenario, and everything that arrives at them. */
export async function openTargets(stage: RealStage, names: Names, scenario: Scenario): Promise<RealTargets> {
  await using stack = new AsyncDisposableStack();
  const arrivals = new Map<string, number>();
  const arrived = (index: number, payload: Uint8Array, again: boolean): void => {
    const number = numberIn(names, payload);
    if (number === undefined) return;
    const leg = legOf(number, bindingOf(index));
    // What a broker repeats to its reader is no repeat of the bridge's.
    if (again && arrivals.has(leg)) return;
    arrivals.set(leg, (arrivals.get(leg) ?? 0) + 1);
  };
  const ports: number[] = [];
  for (const [index, target] of scenario.targets.entries()) {
    if (target === "mqtt") {
      const topic = topicOf(names, index, TAKEN);
      const read = (from: string, payload: Buffer, { dup }: { readonly dup: boolean }): void => {
        if (from === topic) arrived(index, payload, dup);
      };
      stage.mqtt.on("message", read);
      await stage.mqtt.subscribeAsync(topic, { qos: 1 });
      stack.defer(async () => {
        stage.mqtt.off("message", read);
        await stage.mqtt.unsubscribeAsync(topic);
      });
      ports.push(stage.mosquitto.port);
    } else if (target === "amqp") {
      const queue = queueOf(names, index, TAKEN);
      await stage.amqp.assertQueue(queue, { durable: true });
      await stage.amqp.consume(
        queue,
        (message) => {
          if (message !== null) arrived(index, message.content, false);
        },
        { noAck: true },
      );
      stack.defer(async () => void (await stage.amqp.deleteQueue(queue)));
      ports.push(stage.rabbitmqPort);
    } else ports.push(await serve(index));
  }
  const opened = stack.move();
  return { ports, arrivals, [Symbol.asyncDispose]: () => opened.disposeAsync() };

  async function serve(index: number): Promise<number> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const payload = Buffer.concat(chunks);
        const code = scenario.messages[numberIn(names, payload) ?? -1]?.refused[index];
        const status = code === undefined ? 200 : (STATUS[code] ?? 500);
        if (status === 200) arrived(index, payload, false);
        response.writeHead(status, { "Content-Length": "0" }).end();
      });
      request.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.defer(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return (server.address() as AddressInfo).port;
  }
}
