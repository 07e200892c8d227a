import {
  type Clock,
  type Delivery,
  type Envelope,
  type LogFields,
  type Logger,
  type Receiver,
  type Sender,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import * as v from "valibot";
import { type Functions, functionTransport } from "../../src/index.ts";

/** Never aborts. */
export const { signal: never } = new AbortController();

/** A line of the log. */
export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps what is logged. */
export function keptLog(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  const logger: Logger = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => logger,
  };
  return { logger, lines };
}

/** Builds parts of one transport, as a configuration would. */
export function parts(functions: Functions, { clock = systemClock }: { readonly clock?: Clock } = {}) {
  const { receiver, sender } = functionTransport(functions);
  const { logger, lines } = keptLog();
  const seams = { clock, random: systemRandom(), logger };
  return {
    lines,
    sender: (name: string): Sender =>
      sender!.create(v.parse(sender!.options, { handler: name }), { ...seams, id: "sender" }),
    receiver: (name: string): Receiver =>
      receiver!.create(v.parse(receiver!.options, { source: name }), {
        ...seams,
        id: "receiver",
        topics: [],
        maxInFlight: 10,
        maxReplayAttempts: 5,
      }),
  };
}

export function envelope(fields: Partial<Envelope> = {}): Envelope {
  return {
    id: "m1",
    sourceId: "s",
    subject: "subject",
    contentType: "",
    headers: {},
    payload: Buffer.from("payload"),
    correlationId: "m1",
    receivedAt: 5,
    ...fields,
  };
}

export function iterate(receiver: Receiver, until: AbortSignal = never): AsyncIterator<Delivery> {
  return receiver.receive(until)[Symbol.asyncIterator]();
}

/** The next delivery; there must be one. */
export async function next(iterator: AsyncIterator<Delivery>): Promise<Delivery> {
  const result = await iterator.next();
  if (result.done === true) throw new Error("the iteration has ended");
  return result.value;
}

export function textOf(delivery: Delivery): string {
  return Buffer.from(delivery.message.payload).toString();
}

export const ACCEPT = { kind: "accept", outcome: "delivered", envelopeId: "e" } as const;

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [ended] = await Promise.allSettled([promise]);
  if (ended.status === "fulfilled") throw new Error("it was not rejected");
  return ended.reason;
}
