import {
  type Clock,
  type Connection,
  type Delivery,
  type Envelope,
  type Logger,
  type LogFields,
  type Receiver,
  type Sender,
  type Session,
  type SessionContext,
  type SessionMode,
  type SessionRole,
  systemClock,
  systemRandom,
  type Topic,
} from "@bridge/ports";
import * as v from "valibot";
import { expect } from "vitest";
import { mqttTransport } from "../../src/mqtt-transport.ts";

const random = systemRandom();

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that remembers its lines. */
function rememberingLogger(lines: LogLine[]): Logger {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => rememberingLogger(lines),
  };
}

export interface SessionSetup {
  readonly port: number;
  readonly role?: SessionRole;
  readonly mode?: SessionMode;
  readonly window?: number;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  readonly log?: LogLine[];
}

/** One half of a session, of an id and a client id of its own. */
export function session(setup: SessionSetup): Session {
  const { factory, options, context } = sessionOf(setup);
  return factory.create(options, context);
}

/** Whether nothing is left at the broker of a session whose receivers had these topics. */
export function leave(setup: SessionSetup, ...topics: readonly string[]): Promise<boolean> {
  const { factory, options, context } = sessionOf(setup);
  if (factory.leave === undefined) throw new Error("sessions are not left");
  const left = { ...context, topics: topics.map((topic) => ({ topic, qos: 1 as const })) };
  return factory.leave(options, left, new AbortController().signal);
}

function sessionOf(setup: SessionSetup) {
  const factory = mqttTransport.session;
  if (factory === undefined) throw new Error("no sessions");
  const options = { broker_urls: [`mqtt://127.0.0.1:${setup.port}`], connect_timeout: "5s", ...setup.options };
  const context: SessionContext = {
    id: `s-${crypto.randomUUID()}`,
    bridgeId: "plant",
    clock: setup.clock ?? systemClock,
    random,
    logger: rememberingLogger(setup.log ?? []),
    role: setup.role ?? "source",
    sessionMode: setup.mode ?? "persistent",
    maxInFlight: setup.window ?? 100,
  };
  return { factory, options: v.parse(factory.options, options), context };
}

export function receiver(of: Session, topics: readonly (Topic | string)[], id = "in"): Receiver {
  const factory = mqttTransport.receiver;
  if (factory === undefined) throw new Error("no receivers");
  return factory.create(v.parse(factory.options, {}), {
    id,
    clock: systemClock,
    random,
    logger: rememberingLogger([]),
    session: of,
    topics: topics.map((topic) => (typeof topic === "string" ? { topic, qos: 1 } : topic)),
    maxInFlight: 100,
    maxReplayAttempts: 5,
  });
}

export function sender(of: Session, options: Readonly<Record<string, unknown>> = {}): Sender {
  const factory = mqttTransport.sender;
  if (factory === undefined) throw new Error("no senders");
  return factory.create(v.parse(factory.options, options), {
    id: "out",
    clock: systemClock,
    random,
    logger: rememberingLogger([]),
    session: of,
  });
}

/** A connection of a session, subscribed. */
export async function connected(of: Session, signal: AbortSignal): Promise<Connection> {
  const connection = await of.connect(signal);
  await connection.reconcile(signal);
  return connection;
}

/** Asks a receiver for deliveries, one when the next is wanted, as the engine does. */
export class Puller {
  readonly #iterator: AsyncIterator<Delivery>;
  #asked: Promise<IteratorResult<Delivery>> | undefined;

  constructor(from: Receiver, signal: AbortSignal) {
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

  /** Whether there is a delivery right now; it stays there. */
  async has(): Promise<boolean> {
    this.#asked ??= this.#iterator.next();
    const later = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
    return (await Promise.race([this.#asked, later])) !== undefined;
  }
}

/** Settles a delivery; resolves when its source has been told. */
export async function accept(delivery: Delivery): Promise<void> {
  await delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: "x" });
}

export function text(delivery: Delivery): string {
  return Buffer.from(delivery.message.payload).toString();
}

export function envelope(fields: Partial<Envelope> = {}): Envelope {
  const id = fields.id ?? crypto.randomUUID();
  return {
    id,
    sourceId: "test",
    subject: "subject",
    contentType: "",
    headers: {},
    payload: Buffer.from("payload"),
    correlationId: id,
    receivedAt: 0,
    ...fields,
  };
}

/** A topic that no other test uses. */
export function freshTopic(): string {
  return `test/${crypto.randomUUID()}`;
}

/** Resolves when `condition` holds; a test's own timeout bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** For expectations about the text of an error. */
export function like(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
