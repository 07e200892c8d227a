import { type Addressing, BridgeError, type Clock, type Envelope, type Sender } from "@bridge/ports";
import type { NatsSession } from "./nats-session.ts";
import type { SenderOptions } from "./options.ts";
import { outboundHeaders } from "./outbound-headers.ts";
import { subjectProblem } from "./subject.ts";

/** Publishes to the subject that is the binding's address. */
export class NatsSender implements Sender {
  readonly #options: SenderOptions;
  readonly #session: NatsSession;
  readonly #clock: Clock;
  /** The last subject that was found to be one. */
  #subject: string | undefined;
  #sent = 0;

  constructor(options: SenderOptions, session: NatsSession, clock: Clock) {
    this.#options = options;
    this.#session = session;
    this.#clock = clock;
  }

  /** A value may not make a pattern of the subject, or reach the server's own. */
  readonly addressing: Addressing = {
    separator: ".",
    fill(value, before) {
      if (/[*>\s\p{Cc}]/u.test(value)) throw unresolved('holds white space, a control character, "*" or ">"');
      if (before === "" && value.startsWith("$"))
        throw unresolved('begins with "$", as the subjects of the server\'s own do');
      return value;
    },
  };

  async send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { target } = this.#session;
    if (target === undefined) {
      throw new BridgeError("CONNECTION_LOST", "the session is not connected", { charged: false });
    }
    this.#check(address);
    const { stream } = this.#options;
    const { payload } = envelope;
    const headers = outboundHeaders(envelope, stream, this.#clock.now());
    target.check(headers.length + payload.length);
    await target.publisher.publish({ subject: address, payload, headers, stream }, signal);
    this.#sent++;
  }

  counters(): Readonly<Record<string, number>> {
    return { sent: this.#sent };
  }

  /** What is under way ends with the session's connection. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #check(subject: string): void {
    if (subject === this.#subject) return;
    const problem = subjectProblem(subject);
    if (problem !== undefined)
      throw new BridgeError("BINDING_UNRESOLVED", `the binding's address is no subject to publish to: it ${problem}`);
    this.#subject = subject;
  }
}

function unresolved(problem: string): BridgeError {
  return new BridgeError("BINDING_UNRESOLVED", `a value for the address ${problem}`);
}
