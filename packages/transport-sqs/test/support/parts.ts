import {
  type Clock,
  type Delivery,
  type Envelope,
  type LogFields,
  type Logger,
  type Receiver,
  type Sender,
  type Settlement,
  silentLogger,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import * as v from "valibot";
import { sqsTransport } from "../../src/sqs-transport.ts";
import { CLIENT } from "./client.ts";

const transport = sqsTransport({ client: CLIENT });
const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };

export interface ReceiverSetup {
  readonly maxInFlight?: number;
  readonly maxReplayAttempts?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** A receiver built as the configuration would build it; quick polls, unless the options say otherwise. */
export function receiver(options: Readonly<Record<string, unknown>>, setup: ReceiverSetup = {}): Receiver {
  const factory = transport.receiver!;
  return factory.create(v.parse(factory.options, { wait_time: "1s", ...options }), {
    ...seams,
    id: "in",
    topics: [],
    maxReplayAttempts: 5,
    ...setup,
    get maxInFlight() {
      return setup.maxInFlight ?? 100;
    },
  });
}

export function sender(options: Readonly<Record<string, unknown>> = {}): Sender {
  const factory = transport.sender!;
  return factory.create(v.parse(factory.options, options), { ...seams, id: "out" });
}

export function envelope(fields: Partial<Envelope> = {}): Envelope {
  return {
    id: crypto.randomUUID(),
    sourceId: "test",
    subject: "",
    contentType: "",
    headers: {},
    payload: Buffer.from("payload"),
    correlationId: "c-1",
    receivedAt: 0,
    ...fields,
  };
}

export function never(): AbortSignal {
  return new AbortController().signal;
}

export const ACCEPT: Settlement = { kind: "accept", outcome: "delivered", envelopeId: "e" };

/** Settles a delivery as delivered. */
export async function accept(delivery: Delivery): Promise<void> {
  await delivery.settle(ACCEPT);
}

export function textOf(delivery: Delivery): string {
  return Buffer.from(delivery.message.payload).toString();
}

/** Takes deliveries until there are so many. */
export async function take(receiving: AsyncIterator<Delivery>, count: number): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  while (deliveries.length < count) deliveries.push((await receiving.next()).value as Delivery);
  return deliveries;
}

/** Waits until something holds; the test's own timeout is the bound. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await systemClock.delay(5, never());
}

export interface Line {
  readonly message: string;
  readonly fields: LogFields | undefined;
}

/** Keeps warnings. */
export function rememberingLogger(lines: Line[]): Logger {
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields) => void lines.push({ message, fields }),
    child: () => logger,
  };
  return logger;
}
