/**
 * Messages as clients of other languages write them by default, in `clients/corpus.json`: the bytes of their properties, caught
 * on the way to a broker, and what the clients' own programs say must arrive. @module
 */
import { readFileSync } from "node:fs";
import { expect, describe, test } from "vitest";
import { readProperties } from "../src/codec/read-properties.ts";
import { inboundMessage } from "../src/inbound-message.ts";
import { noBroker } from "./support/broker.ts";
import { accept, connected, Puller, receiver, session } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { publishAll } from "./support/raw-publisher.ts";

interface Published {
  readonly client: string;
  readonly case: string;
  /** Base64, as the payload. */
  readonly properties: string;
  readonly payload: string;
  readonly becomes: { readonly headers: Readonly<Record<string, string>> };
}

const CORPUS = JSON.parse(readFileSync(new URL("clients/corpus.json", import.meta.url), "utf8")) as Published[];
const bytes = (base64: string): Buffer => Buffer.from(base64, "base64");

describe("finding 1.9, 1.10, 1.11: a message as other clients write it", () => {
  test.each(CORPUS)("$client: $case", ({ properties, payload, becomes }) => {
    const { message, undecodable } = inboundMessage(
      {
        deliveryTag: 1,
        redelivered: false,
        exchange: "",
        routingKey: "queue",
        properties: readProperties(bytes(properties)),
        payload: bytes(payload),
      },
      0,
    );
    expect(undecodable).toBeUndefined();
    expect(message).toMatchObject(becomes);
  });

  test.skipIf(noBroker)("arrives by way of RabbitMQ as well, in its order (needs RabbitMQ)", async () => {
    await using broker = await program();
    const queue = await broker.queue("quorum");
    await publishAll(
      queue,
      CORPUS.map(({ properties, payload }) => [bytes(properties), bytes(payload)]),
    );
    await using source = session();
    const puller = new Puller(receiver(source, { queue }, { window: CORPUS.length }));
    await connected(source);
    const deliveries = await puller.take(CORPUS.length);
    for (const [index, { client, case: what, payload, becomes }] of CORPUS.entries()) {
      const { message, undecodable } = deliveries[index]!;
      expect([undecodable, message], `${client}: ${what}`).toMatchObject([undefined, becomes]);
      expect(Buffer.from(message.payload)).toEqual(bytes(payload));
    }
    await Promise.all(deliveries.map(accept));
  });
});
