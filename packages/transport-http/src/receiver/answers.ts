import type { ServerResponse } from "node:http";
import { endReply, type Reply, writeReplyHead } from "./reply.ts";

/**
 * The answers of one turn of the event loop, which leave together at its end. Each one that leaves wakes its caller up if
 * that has nothing else to do, which costs the machine more than the bridge spends on a message; those that leave
 * together wake it up once.
 */
export class Answers {
  #waiting: { readonly outgoing: ServerResponse; readonly body: string }[] = [];

  /** Sends `reply` in this turn still; does nothing when the caller is gone. */
  send(outgoing: ServerResponse, reply: Reply, correlationId: string | undefined): void {
    writeReplyHead(outgoing, reply, correlationId);
    if (this.#waiting.push({ outgoing, body: reply.body }) === 1) setImmediate(() => this.#endAll());
  }

  #endAll(): void {
    const answers = this.#waiting;
    this.#waiting = [];
    for (const { outgoing, body } of answers) endReply(outgoing, body);
  }
}
