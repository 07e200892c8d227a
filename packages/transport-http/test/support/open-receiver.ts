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
import { httpTransport } from "../../src/http-transport.ts";
import type { BacklogLimits } from "../../src/receiver/backlog.ts";
import { HttpReceiver } from "../../src/receiver/http-receiver.ts";
import { parseListenAddress } from "../../src/receiver/listen-address.ts";
import { LISTENER_LIMITS, type ListenerLimits } from "../../src/receiver/listener.ts";
import { Listeners } from "../../src/receiver/listeners.ts";

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

/** Opens a receiver on a free port, built as the configuration would build it. */
export async function openReceiver(settings: OpenReceiverOptions = {}): Promise<OpenReceiver> {
  const { id = "in", path = `/ingest/${id}`, options = {}, plugin = httpTransport() } = settings;
  return open(path, (logger) => buildReceiver(plugin, id, { addr: "127.0.0.1:0", path, ...options }, logger));
}

/** Opens a receiver on a free port that has less room, or less time, than a configured one. */
export async function openSmallReceiver(
  limits: Partial<BacklogLimits & ListenerLimits & { readonly responseTimeoutMs: number }>,
): Promise<OpenReceiver> {
  const address = parseListenAddress("127.0.0.1:0");
  if (address === undefined) throw new Error("no address");
  const { requests = 100, bytes = 2 ** 20, responseTimeoutMs = 30_000, ...listener } = limits;
  const deps = {
    id: "in",
    listeners: new Listeners({ ...LISTENER_LIMITS, ...listener }),
    address,
    path: "/ingest",
    tls: undefined,
    apiKey: undefined,
    localOnly: false,
    maxBody: 2 ** 20,
    responseTimeoutMs,
    backlog: { requests, bytes },
    clock: systemClock,
  };
  return open(deps.path, async (logger) => new HttpReceiver({ ...deps, logger }));
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
    maxReplayAttempts: 5,
  });
}

async function open(path: string, build: (logger: Logger) => Promise<Receiver>): Promise<OpenReceiver> {
  let port = 0;
  const receiver = await build({ ...silentLogger, info: (_message, fields) => (port = Number(fields?.["port"])) });
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
          await accept(delivery);
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

export function textOf(message: SourceMessage | undefined): string {
  return decoder.decode(message?.payload);
}

export async function accept(delivery: Delivery): Promise<void> {
  await delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: delivery.message.id ?? "minted" });
}
