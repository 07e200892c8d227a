import {
  type Clock,
  type Connection,
  type Delivery,
  type Envelope,
  type Factory,
  type LogFields,
  type Logger,
  type Receiver,
  type Sender,
  type Session,
  type SessionRole,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import * as v from "valibot";
import { natsTransport } from "../../src/nats-transport.ts";
import { PORT } from "./server.ts";

type Options = Readonly<Record<string, unknown>>;

const random = systemRandom();

export interface LogLine {
  readonly message: string;
  readonly fields: LogFields;
}

function rememberingLogger(lines: LogLine[]): Logger {
  const remember = (message: string, fields: LogFields = {}): void => void lines.push({ message, fields });
  return { debug: remember, info: remember, warn: remember, error: remember, child: () => rememberingLogger(lines) };
}

export interface SessionSetup {
  readonly port?: number;
  readonly role?: SessionRole;
  readonly options?: Options;
  readonly clock?: Clock;
  readonly replica?: string;
  readonly log?: LogLine[];
}

/** One half of a session. */
export function session({ port = PORT, role = "source", options, clock, replica, log }: SessionSetup = {}): Session {
  return make(
    natsTransport.session,
    { servers: [`nats://127.0.0.1:${port}`], connect_timeout: "5s", ...options },
    {
      ...seams(clock, log),
      id: "broker",
      bridgeId: "plant",
      replica,
      role,
      sessionMode: "persistent",
      maxInFlight: 100,
    },
  );
}

export interface ReceiverSetup {
  readonly window?: number;
  readonly log?: LogLine[];
  readonly id?: string;
}

export function receiver(
  of: Session,
  options: Options,
  { window = 100, log, id = "in" }: ReceiverSetup = {},
): Receiver {
  return make(natsTransport.receiver, options, {
    ...seams(undefined, log),
    id,
    session: of,
    topics: [],
    maxInFlight: window,
    maxReplayAttempts: 5,
  });
}

export function sender(of: Session, options: Options = {}): Sender {
  return make(natsTransport.sender, options, { ...seams(), id: "out", session: of });
}

/** A connection of a session, consuming. */
export async function connected(of: Session, signal: AbortSignal = never): Promise<Connection> {
  const connection = await of.connect(signal);
  await connection.reconcile(signal);
  return connection;
}

export const never: AbortSignal = new AbortController().signal;

/** Asks a receiver for deliveries, one when the next is wanted, as the engine does. */
export class Puller {
  readonly #iterator: AsyncIterator<Delivery>;
  #asked: Promise<IteratorResult<Delivery>> | undefined;

  constructor(from: Receiver, signal: AbortSignal = never) {
    this.#iterator = from.receive(signal)[Symbol.asyncIterator]();
  }

  async next(): Promise<Delivery> {
    this.#asked ??= this.#iterator.next();
    const result = await this.#asked;
    this.#asked = undefined;
    if (result.done === true) throw new Error("receive has ended");
    return result.value;
  }

  async take(count: number): Promise<readonly Delivery[]> {
    const deliveries: Delivery[] = [];
    while (deliveries.length < count) deliveries.push(await this.next());
    return deliveries;
  }
}

/** Settles a delivery; resolves when its source has been told. */
export async function accept(delivery: Delivery): Promise<void> {
  await delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: "x" });
}

export function text({ message }: Delivery): string {
  return Buffer.from(message.payload).toString();
}

export function envelope(fields: Partial<Envelope> = {}): Envelope {
  const id = fields.id ?? crypto.randomUUID();
  const payload = Buffer.from("payload");
  return {
    id,
    sourceId: "test",
    subject: "subject",
    contentType: "",
    headers: {},
    payload,
    correlationId: id,
    receivedAt: 0,
    ...fields,
  };
}

function seams(clock: Clock = systemClock, log: LogLine[] = []) {
  return { clock, random, logger: rememberingLogger(log) };
}

function make<Context, Part>(factory: Factory<Context, Part> | undefined, options: Options, context: Context): Part {
  if (factory === undefined) throw new Error("the plugin has no such part");
  return factory.create(v.parse(factory.options, options), context);
}
