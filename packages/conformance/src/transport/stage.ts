import assert from "node:assert/strict";
import {
  type Factory,
  type Receiver,
  type Sender,
  type Session,
  type SessionRole,
  silentLogger,
  type SourceMessage,
  systemClock,
  systemRandom,
  type TransportPlugin,
} from "@bridge/ports";
import { driveSession, type SessionDriver } from "../harness/session-driver.ts";
import { accept, Consumer } from "./consumer.ts";
import { Disposables } from "./disposables.ts";
import { bytesOf, envelopeOf, textOf } from "./messages.ts";
import { Producer } from "./producer.ts";
import type { FaultyLink, SourcePlace, TargetPlace, TransportPlace } from "./transport-subject.ts";

/** The most deliveries that a case holds unsettled. */
const WINDOW = 64;

const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };

/** One case's place, with the parts that the case asks for; all of them are disposed with it. */
export class Stage implements AsyncDisposable {
  readonly largestPayload: number;
  readonly #plugin: TransportPlugin;
  readonly #place: TransportPlace;
  readonly #signal: AbortSignal;
  /** The same for all parts of a case, as a configuration gives it. */
  readonly #id: string;
  readonly #disposables = new Disposables();
  readonly #collected: SourceMessage[] = [];
  #publisher: Promise<Producer> | undefined;
  #collector: Promise<Consumer> | undefined;

  constructor(plugin: TransportPlugin, place: TransportPlace, signal: AbortSignal) {
    this.#plugin = plugin;
    this.#place = place;
    this.#signal = signal;
    this.#id = place.id ?? `conformance-${crypto.randomUUID()}`;
    this.largestPayload = place.largestPayload ?? 1024 * 1024;
    this.#disposables.use(place);
  }

  get source(): SourcePlace {
    return present(this.#place.source, "its place has no source");
  }

  get target(): TargetPlace {
    return present(this.#place.target, "its place has no target");
  }

  link(role: SessionRole): FaultyLink {
    const { link } = role === "source" ? this.source : this.target;
    return present(link, `the ${role} of its place has no link: give one, or excuse the case`);
  }

  /** A message of the source's subject, or of the target's. */
  message(role: SessionRole, fields: Partial<SourceMessage> = {}): SourceMessage {
    const { subject = "conformance" } = role === "source" ? this.source : this.target;
    return { id: crypto.randomUUID(), subject, payload: bytesOf("payload"), ...fields };
  }

  /** A new session; for a source, with a receiver built on it. */
  async buildSession(role: SessionRole): Promise<Session> {
    const session = present(await this.#session(role), `the ${role} of its place has no session`);
    this.#disposables.use(session);
    if (role === "source") this.#disposables.use(await this.#receiver(session));
    return session;
  }

  /**
   * A new consumer of the place: the same one again, as far as the source can tell. With `replica`, that instance of a
   * cluster.
   */
  async consumer(replica?: string): Promise<Consumer> {
    const session = await this.#session("source", replica);
    const receiver = await this.#receiver(session);
    const consumer = this.#disposables.use(new Consumer(receiver, session && driveSession(session)));
    await consumer.start(this.#signal);
    return consumer;
  }

  /** Ends a consumer as a process ends: the source hears no word from it any more. */
  async crash(consumer: Consumer): Promise<void> {
    const { link } = this.source;
    const { session } = consumer;
    const connection = await session?.up(session.connections, this.#signal);
    link?.refuse();
    link?.cut();
    // A link may cut when it has passed on what was written before.
    await connection?.closed;
    await consumer[Symbol.asyncDispose]();
    await link?.restore();
  }

  /** A producer whose session is up; what it sends is collected from now on. */
  async producer(): Promise<Producer> {
    if (this.target.collect === undefined) await (this.#collector ??= this.consumer());
    return this.#producer();
  }

  /** Gives the source messages with these payloads, in their order. */
  async publishTexts(...payloads: readonly string[]): Promise<void> {
    for (const payload of payloads) await this.publish(this.message("source", { payload: bytesOf(payload) }));
  }

  async publish(message: SourceMessage): Promise<void> {
    if (this.source.publish !== undefined) return this.source.publish(message, this.#signal);
    const publisher = await (this.#publisher ??= this.#producer());
    return publisher.deliver(envelopeOf(message), this.#signal);
  }

  /** What has arrived at the target, once there are `count` messages or more. */
  async collect(count: number): Promise<readonly SourceMessage[]> {
    if (this.target.collect !== undefined) return this.target.collect(count, this.#signal);
    const collector = await (this.#collector ??= this.consumer());
    while (this.#collected.length < count) {
      const delivery = await collector.next(this.#signal);
      this.#collected.push(delivery.message);
      await accept(delivery, this.#signal);
    }
    return [...this.#collected];
  }

  /** Resolves when each of these payloads has arrived at the target, whatever else has. */
  async collectTexts(payloads: readonly string[]): Promise<void> {
    const missing = new Set(payloads);
    for (let count = payloads.length; missing.size > 0;) {
      const arrived = await this.collect(count);
      for (const message of arrived) missing.delete(textOf(message));
      count = arrived.length + 1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#disposables[Symbol.asyncDispose]();
  }

  async #producer(): Promise<Producer> {
    const session = await this.#session("target");
    const factory = present(this.#plugin.sender, "its plugin has no sender");
    const sender: Sender = factory.create(await parse(factory, this.target.sender.options), {
      ...seams,
      id: this.#id,
      session,
    });
    const driver: SessionDriver | undefined = session && driveSession(session);
    const producer = this.#disposables.use(new Producer(sender, driver, this.target.address));
    await driver?.up(1, this.#signal);
    return producer;
  }

  async #receiver(session: Session | undefined): Promise<Receiver> {
    const factory = present(this.#plugin.receiver, "its plugin has no receiver");
    const { options, topics = [] } = this.source.receiver;
    return factory.create(await parse(factory, options), {
      ...seams,
      id: this.#id,
      session,
      topics,
      maxInFlight: WINDOW,
      maxReplayAttempts: 5,
    });
  }

  async #session(role: SessionRole, replica?: string): Promise<Session | undefined> {
    const factory = this.#plugin.session;
    const { session } = role === "source" ? this.source : this.target;
    if (factory === undefined || session === undefined) return undefined;
    return factory.create(await parse(factory, session.options), {
      ...seams,
      id: this.#id,
      bridgeId: "suite",
      replica,
      role,
      sessionMode: session.mode ?? "persistent",
      maxInFlight: WINDOW,
    });
  }
}

async function parse(factory: Factory<never, unknown>, options: unknown): Promise<unknown> {
  const result = await factory.options["~standard"].validate(options);
  if (result.issues === undefined) return result.value;
  throw new Error(`the subject's options are refused: ${result.issues.map(({ message }) => message).join("; ")}`);
}

function present<T>(value: T | undefined, absence: string): T {
  assert.ok(value !== undefined, `the subject cannot be tried: ${absence}`);
  return value;
}
