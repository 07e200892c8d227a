import {
  type Delivery,
  type Logger,
  type Receiver,
  silentLogger,
  type SourceMessage,
  systemClock,
  systemRandom,
  type TransportPlugin,
} from "@bridge/ports";
import { httpTransport } from "../../src/index.ts";

const decoder = new TextDecoder();

/** A receiver that is open and of which deliveries are taken, as the engine does. */
export interface OpenReceiver extends AsyncDisposable {
  readonly receiver: Receiver;
  readonly port: number;
  /** `http://127.0.0.1:<port>` and its path. */
  readonly url: string;
  next(): Promise<Delivery>;
  /** Accepts each delivery as soon as it comes; the messages are kept, in their order. */
  acceptAll(): readonly SourceMessage[];
  /** Aborts the iteration. */
  stop(): void;
}

export interface OpenReceiverOptions {
  readonly id?: string;
  readonly path?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly plugin?: TransportPlugin;
}

export async function openReceiver({
  id = "in",
  path = `/ingest/${id}`,
  options = {},
  plugin = httpTransport(),
}: OpenReceiverOptions = {}): Promise<OpenReceiver> {
  let port = 0;
  const logger: Logger = { ...silentLogger, info: (_message, fields) => (port = Number(fields?.["port"])) };
  const receiver = await buildReceiver(plugin, id, { addr: "127.0.0.1:0", path, ...options }, logger);
  const controller = new AbortController();
  try {
    await receiver.open?.(controller.signal);
  } catch (error) {
    await receiver[Symbol.asyncDispose]();
    throw error;
  }
  const iterator = receiver.receive(controller.signal)[Symbol.asyncIterator]();
  return {
    receiver,
    port,
    url: `http://127.0.0.1:${port}${path}`,
    async next() {
      const result = await iterator.next();
      if (result.done === true) throw new Error("receive has ended");
      return result.value;
    },
    acceptAll() {
      const messages: SourceMessage[] = [];
      void (async () => {
        for await (const delivery of { [Symbol.asyncIterator]: () => iterator }) {
          messages.push(delivery.message);
          await delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: delivery.message.id ?? "minted" });
        }
      })();
      return messages;
    },
    stop: () => controller.abort(new Error("stopped")),
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]();
    },
  };
}

/** A receiver built as the configuration would build it; nothing is open yet. */
export async function buildReceiver(
  plugin: TransportPlugin,
  id: string,
  options: unknown,
  logger: Logger = silentLogger,
): Promise<Receiver> {
  const factory = plugin.receiver;
  if (factory === undefined) throw new Error("the plugin has no receiver");
  const parsed = await factory.options["~standard"].validate(options);
  if (parsed.issues !== undefined) throw new Error(parsed.issues.map(({ message }) => message).join("; "));
  return factory.create(parsed.value, {
    id,
    clock: systemClock,
    random: systemRandom(),
    logger,
    topics: [],
    maxInFlight: 100,
  });
}

export function textOf(message: SourceMessage | undefined): string {
  return decoder.decode(message?.payload);
}

export async function accept(delivery: Delivery): Promise<void> {
  await delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: delivery.message.id ?? "minted" });
}
