import { BridgeError, type Connection } from "@bridge/ports";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { PermissionViolationError } from "@nats-io/transport-node";
import { Publisher } from "./publisher.ts";
import { isNotFound, requestError } from "./server-error.ts";
import type { Wire } from "./wire.ts";

const NO_SUBSCRIPTIONS: ReadonlySet<string> = new Set();

export interface TargetParts {
  readonly inboxPrefix: string;
  /** The bound of one request to JetStream. */
  readonly timeoutMs: number;
}

/** A connection that sends. */
export class TargetConnection implements Connection {
  readonly wire: Wire;
  readonly publisher: Publisher;
  readonly #timeoutMs: number;
  /** What is being asked about subjects that nobody answered to. */
  readonly #questions = new Map<string, Promise<BridgeError>>();
  #made: Promise<JetStreamManager> | undefined;
  #refusal: BridgeError | undefined;

  constructor(wire: Wire, { inboxPrefix, timeoutMs }: TargetParts) {
    this.wire = wire;
    this.#timeoutMs = timeoutMs;
    this.publisher = new Publisher({
      connection: wire.connection,
      inboxPrefix,
      nobody: (subject) => this.#nobody(subject),
      subjectOf: (stream, sequence) => this.#subjectOf(stream, sequence),
    });
  }

  /** Why nothing can be sent on it, once the server has said so. */
  get refusal(): BridgeError | undefined {
    return this.#refusal;
  }

  get closed(): Promise<BridgeError | undefined> {
    return this.wire.closed;
  }

  /** @throws BridgeError `PAYLOAD_TOO_LARGE` for what the server would end the connection over */
  check(size: number): void {
    const limit = this.wire.connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (size <= limit) return;
    throw new BridgeError(
      "PAYLOAD_TOO_LARGE",
      `the message has ${size} bytes, headers included, the server takes ${limit}`,
    );
  }

  /**
   * The server does not let us publish, which is the message's failure; or not listen for its answers, which is the
   * connection's: it ends, and is made again for as long as that is so.
   */
  denied({ operation, subject }: PermissionViolationError): void {
    if (operation === "publish") this.publisher.denied(subject);
    else if (subject === this.publisher.answersTo) {
      const why = `the bridge may not listen for the server's answers on ${subject}: grant that, or change inbox_prefix`;
      this.#refusal ??= new BridgeError("FORBIDDEN", why);
      this.wire.lose(this.#refusal);
    }
  }

  /** The connection is gone. */
  lost(cause: BridgeError): void {
    this.publisher.close(cause.class === "transient" ? cause : new BridgeError("CONNECTION_LOST", cause.message));
  }

  async reconcile(): Promise<ReadonlySet<string>> {
    return NO_SUBSCRIPTIONS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.lost(new BridgeError("CONNECTION_LOST", "the connection was closed"));
    await this.wire.close();
  }

  /** One question at a time about one subject. */
  #nobody(subject: string): Promise<BridgeError> {
    let question = this.#questions.get(subject);
    if (question === undefined) {
      question = this.#ask(subject).finally(() => this.#questions.delete(subject));
      this.#questions.set(subject, question);
    }
    return question;
  }

  /** A subject has nobody who answers when no stream takes it, and while its stream has no leader. */
  async #ask(subject: string): Promise<BridgeError> {
    const none = "no stream takes messages of this subject";
    try {
      const stream = await (await this.#manager()).streams.find(subject);
      return new BridgeError("UNAVAILABLE", `the message was not taken: stream ${stream} does not answer`);
    } catch (error) {
      if (isNotFound(error)) return new BridgeError("DESTINATION_NOT_FOUND", none);
      const failed = requestError("nobody took the message, and whether a stream should is not known", error);
      // Who may never ask would otherwise try for ever what nobody takes.
      if (failed.code === "FORBIDDEN")
        return new BridgeError("DESTINATION_NOT_FOUND", `${none}, as far as the bridge may ask`);
      return failed;
    }
  }

  async #subjectOf(stream: string, sequence: number): Promise<string | undefined> {
    try {
      return (await (await this.#manager()).streams.getMessage(stream, { seq: sequence }))?.subject;
    } catch (thrown) {
      const error = requestError("what the stream had is not known", thrown);
      if (error.class === "transient") throw error;
      return undefined;
    }
  }

  #manager(): Promise<JetStreamManager> {
    this.#made ??= jetstreamManager(this.wire.connection, { checkAPI: false, timeout: this.#timeoutMs });
    return this.#made;
  }
}
