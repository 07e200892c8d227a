import { type TransportPlace, tcpProxy } from "@bridge/conformance";
import { Witness } from "./witness.ts";

/** An emulator that queues can be made in. */
export interface Queues {
  readonly port: number;
  createQueue(name: string): Promise<string> | string;
}

/** A queue of its own for one case, with a proxy before it for each half. */
export async function sqsPlace(server: Queues, kind: "standard" | "fifo"): Promise<TransportPlace> {
  const name = `q-${crypto.randomUUID()}${kind === "fifo" ? ".fifo" : ""}`;
  const witness = new Witness(await server.createQueue(name));
  const source = await tcpProxy({ target: { port: server.port } });
  const target = await tcpProxy({ target: { port: server.port } });
  const url = (port: number): string => `http://127.0.0.1:${port}/000000000000/${name}`;
  return {
    source: {
      // A poll that is cut off may have been given a message, which then comes when its visibility timeout is over.
      receiver: { options: { queue_url: url(source.port), wait_time: "1s", visibility_timeout: "10s" } },
      publish: (message, signal) => witness.write(message, signal),
      link: source,
    },
    target: {
      sender: { options: { message_group_id: "conformance" } },
      address: url(target.port),
      collect: (count, signal) => witness.read(count, signal),
      link: target,
    },
    // In base64, a third larger, and with its attributes, it has to fit into 1 MiB.
    largestPayload: 750_000,
    async [Symbol.asyncDispose]() {
      witness[Symbol.dispose]();
      await Promise.all([source[Symbol.asyncDispose](), target[Symbol.asyncDispose]()]);
    },
  };
}
