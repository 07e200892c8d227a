import { BridgeError } from "@bridge/ports";
import { Malformed } from "../codec/byte-reader.ts";
import { FieldTable } from "../codec/field-value.ts";
import { FRAME } from "../codec/frame-reader.ts";
import { Method, SAID } from "../codec/methods.ts";
import { type PublishFields, publishFrames } from "../codec/publish-frames.ts";
import type { Properties } from "../codec/read-properties.ts";
import { SAY } from "../codec/say.ts";
import type { Incoming } from "../inbound-message.ts";
import { type Confirmed, Confirms } from "./confirms.ts";
import { type Content, ContentAssembly } from "./content.ts";
import { Refusal } from "./refusal.ts";

/** What a channel has of its connection. */
export interface ChannelLine {
  readonly frameMax: number;
  /** The largest payload that is kept. */
  readonly maxMessageBytes: number;
  write(bytes: Buffer): void;
  /** The same, with what else is published in this turn. */
  writeMessage(bytes: Buffer): void;
  /** The channel has ended; its number is free. */
  released(channel: Channel): void;
}

/** What a channel tells its owner. */
export interface ChannelHandlers {
  /** The broker has closed it, and not in answer to a question, which is then refused with the same. */
  failed(error: Refusal): void;
  /** It hands out a message. */
  delivered?(incoming: Incoming): void;
  /** It hands out a message that is too large: it was let go, and waits to be settled all the same. */
  oversize?(size: number): void;
  /** It hands out nothing more. */
  cancelled?(): void;
  /** No queue takes what was published; the confirm follows. */
  returned?(routingKey: string, properties: Properties): void;
}

const MULTIPLE = 1;
const NO_WAIT = 1;

interface Call {
  readonly answer: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** One channel of a connection: one question at a time, messages both ways. */
export class Channel {
  readonly number: number;
  readonly #line: ChannelLine;
  readonly #handlers: ChannelHandlers;
  readonly #confirms = new Confirms();
  #call: Call | undefined;
  #content: ContentAssembly | undefined;
  #delivered = 0;
  #state: "open" | "closing" | "closed" = "open";
  #refusal: Refusal | undefined;

  constructor(number: number, line: ChannelLine, handlers: ChannelHandlers) {
    this.number = number;
    this.#line = line;
    this.#handlers = handlers;
  }

  /** @throws Refusal when the broker has closed it, be it with its last answer */
  check(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#state !== "open") throw closed();
  }

  open(): Promise<void> {
    return this.#ask(SAY.openChannel(this.number), SAID.channelOpen);
  }

  prefetch(count: number): Promise<void> {
    return this.#ask(SAY.qos(this.number, count), SAID.qos);
  }

  /** Makes a durable queue of this type when it is not there. */
  declareQueue(queue: string, type: string): Promise<void> {
    const args = new FieldTable([["x-queue-type", type]]);
    return this.#ask(SAY.declareQueue(this.number, queue, args), SAID.declared);
  }

  consume(queue: string): Promise<void> {
    return this.#ask(SAY.consume(this.number, queue), SAID.consume);
  }

  /** From now on the broker confirms what is published. */
  selectConfirms(): Promise<void> {
    return this.#ask(SAY.selectConfirms(this.number), SAID.confirmSelect);
  }

  /** @throws when the channel is closed */
  ack(tag: number, upTo: boolean): void {
    this.check();
    this.#line.write(SAY.ack(this.number, tag, upTo));
  }

  /** Gives a message back to its queue. @throws when the channel is closed */
  nack(tag: number): void {
    this.check();
    this.#line.write(SAY.nack(this.number, tag));
  }

  /** `confirmed` is not called when the channel ends before that. @throws when the channel is closed */
  publish(fields: PublishFields, payload: Buffer, confirmed: Confirmed): void {
    this.check();
    this.#line.writeMessage(publishFrames(this.number, fields, payload, this.#line.frameMax));
    this.#confirms.add(confirmed);
  }

  /** Takes leave; resolves when the broker has answered, or the connection is gone. */
  close(): Promise<void> {
    if (this.#state !== "open") return Promise.resolve();
    this.#state = "closing";
    this.#call?.reject(closed());
    this.#content = undefined;
    this.#line.write(SAY.closeChannel(this.number));
    return new Promise((resolve) => {
      this.#call = { answer: SAID.channelCloseOk, resolve, reject: () => resolve() };
    });
  }

  /** The connection is gone. */
  lose(error: Error): void {
    this.#state = "closed";
    const call = this.#call;
    this.#call = undefined;
    call?.reject(error);
  }

  /** @throws Malformed */
  frame(type: number, payload: Buffer): void {
    if (type === FRAME.method) this.#method(new Method(payload));
    // What is under way when leave is taken is not for us any more.
    else if (this.#state === "open") this.#contentFrame(type, payload);
  }

  #ask(question: Buffer, answer: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.check();
      if (this.#call !== undefined) throw new Error("one question at a time");
      this.#call = { answer, resolve, reject };
      this.#line.write(question);
    });
  }

  #method(method: Method): void {
    if (this.#content !== undefined) throw new Malformed(`${method.toString()} within a message`);
    if (method.id === SAID.channelClose) this.#closedByBroker(Refusal.of(method));
    else if (method.id === this.#call?.answer) this.#answered();
    else if (this.#state === "open") this.#said(method);
  }

  #answered(): void {
    const call = this.#call;
    this.#call = undefined;
    if (this.#state === "closing") this.#end();
    call?.resolve();
  }

  #said(method: Method): void {
    switch (method.id) {
      case SAID.deliver:
      case SAID.return:
        this.#announced(method);
        break;
      case SAID.ack:
        this.#confirms.confirm(method.number(0), (method.number(1) & MULTIPLE) !== 0, true);
        break;
      case SAID.nack:
        this.#confirms.confirm(method.number(0), (method.number(1) & MULTIPLE) !== 0, false);
        break;
      case SAID.cancel:
        if ((method.number(1) & NO_WAIT) === 0) throw new Malformed("a cancel that waits for an answer");
        this.#handlers.cancelled?.();
        break;
      default:
        throw new Malformed(`${method.toString()}, which nobody has asked for`);
    }
  }

  /** Its payload follows. */
  #announced(method: Method): void {
    if (method.id === SAID.deliver && method.number(1) !== ++this.#delivered)
      throw new Malformed(`a message with the tag ${method.number(1)} after ${this.#delivered - 1} messages`);
    // Of what comes back only its id is of interest.
    this.#content = new ContentAssembly(method, method.id === SAID.deliver ? this.#line.maxMessageBytes : 0);
  }

  #contentFrame(type: number, payload: Buffer): void {
    if (type === FRAME.heartbeat) throw new Malformed("a heartbeat on a channel");
    if (this.#content === undefined) throw new Malformed("a part of a message that was not announced");
    const content = type === FRAME.header ? this.#content.header(payload) : this.#content.body(payload);
    if (content === undefined) return;
    this.#content = undefined;
    if (content.announced.id === SAID.return) this.#handlers.returned?.(content.announced.text(3), content.properties);
    else if (content.payload === undefined) this.#handlers.oversize?.(content.size);
    else this.#handlers.delivered?.(incomingOf(content, content.payload));
  }

  #closedByBroker(refusal: Refusal): void {
    this.#line.write(SAY.closeChannelOk(this.number));
    if (this.#state === "closing") return;
    this.#refusal = refusal;
    this.#end();
    const call = this.#call;
    this.#call = undefined;
    if (call === undefined) this.#handlers.failed(refusal);
    else call.reject(refusal);
  }

  #end(): void {
    this.#state = "closed";
    this.#line.released(this);
  }
}

function incomingOf({ announced, properties }: Content, payload: Buffer): Incoming {
  return {
    deliveryTag: announced.number(1),
    redelivered: (announced.number(2) & 1) !== 0,
    exchange: announced.text(3),
    routingKey: announced.text(4),
    properties,
    payload,
  };
}

function closed(): BridgeError {
  return new BridgeError("CONNECTION_LOST", "the channel is closed");
}
