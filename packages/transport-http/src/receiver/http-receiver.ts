import type { IncomingMessage, ServerResponse } from "node:http";
import type { ListenerStats, TlsFiles } from "@bridge/net-kit";
import { type Clock, type Delivery, type Logger, type Receiver } from "@bridge/ports";
import { SignalPool } from "@bridge/ports/internal";
import { Answers } from "./answers.ts";
import { apiKeyCheck } from "./api-key.ts";
import { Backlog, type BacklogLimits } from "./backlog.ts";
import { Exchange, HttpDelivery } from "./exchange.ts";
import { Inbox } from "./inbox.ts";
import type { ListenAddress } from "./listen-address.ts";
import type { Mount } from "./listener.ts";
import type { Listeners, Mounted } from "./listeners.ts";
import { isLocalCall } from "./local-call.ts";
import { type MessageHead, readMessageHead } from "./message-head.ts";
import { OrderedList } from "./ordered-list.ts";
import { readBody } from "./read-body.ts";
import { correlationIdOf, malformed, REFUSALS, refuse, type Reply } from "./reply.ts";

/** The header fields of one request, their size aside. Above it: 431. */
const MAX_HEADER_FIELDS = 256;

export interface HttpReceiverDeps {
  readonly id: string;
  readonly listeners: Listeners;
  readonly address: ListenAddress;
  readonly path: string;
  /** The same for all receivers of the address. */
  readonly tls: TlsFiles | undefined;
  readonly apiKey: string | undefined;
  /** Takes only what names this machine: nothing else keeps pages away that are open on it. */
  readonly localOnly: boolean;
  /** Bytes. */
  readonly maxBody: number;
  readonly responseTimeoutMs: number;
  readonly backlog: BacklogLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Takes messages as HTTP requests and answers each when its message is settled (contract §8). */
export class HttpReceiver implements Receiver, Mount {
  readonly id: string;
  readonly #deps: HttpReceiverDeps;
  readonly #authorised: ReturnType<typeof apiKeyCheck>;
  readonly #backlog: Backlog<Exchange>;
  readonly #inbox: Inbox;
  /** Everything admitted and not answered, in the order of deadlines. */
  readonly #unanswered = new OrderedList<Exchange>();
  readonly #answers = new Answers();
  readonly #signals = new SignalPool();
  readonly #onEnd = (exchange: Exchange): void => this.#forget(exchange);
  readonly #counts = { overCapacity: 0, notConfirmed: 0, unauthorized: 0, foreign: 0 };
  #disposed = false;
  /** From now on: whom it is to replace has the address still. */
  readonly #expected: AsyncDisposable;
  #mounted: Mounted | undefined;
  #sweeper: Disposable | undefined;

  constructor(deps: HttpReceiverDeps) {
    this.id = deps.id;
    this.#deps = deps;
    this.#expected = deps.listeners.expect(deps.address);
    this.#authorised = deps.apiKey === undefined ? () => true : apiKeyCheck(deps.apiKey);
    this.#backlog = new Backlog(deps.backlog);
    this.#inbox = new Inbox(this.#backlog, () => this.#refuseAll());
  }

  async open(signal: AbortSignal): Promise<void> {
    const { listeners, address, path, tls, clock, logger, responseTimeoutMs } = this.#deps;
    this.#mounted = await listeners.mount({ address, path, tls, mount: this, clock, logger }, signal);
    await this.#expected[Symbol.asyncDispose]();
    if (this.#disposed) {
      await this.#mounted[Symbol.asyncDispose]();
      throw new Error(`receiver "${this.id}" was closed while it opened`);
    }
    this.#inbox.open();
    // One timer for all requests; a caller may wait up to a tenth longer than it was told.
    const tickMs = Math.max(5, Math.min(1_000, responseTimeoutMs / 10));
    this.#sweeper = clock.every(tickMs, () => this.#sweep());
    logger.info("HTTP receiver listens", {
      addr: address.text,
      port: this.#mounted.port,
      path,
      tls: tls !== undefined,
    });
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return this.#inbox.receive(signal);
  }

  counters(): Readonly<Record<string, number>> {
    return {
      waiting: this.#backlog.requests,
      waitingBytes: this.#backlog.bytes,
      unanswered: this.#unanswered.size,
      ...this.#counts,
      ...listenerCounters(this.#mounted?.stats()),
    };
  }

  handle(incoming: IncomingMessage, outgoing: ServerResponse, rest: string): void {
    const refusal = this.#check(incoming);
    if (refusal !== undefined) {
      refuse(incoming, outgoing, refusal);
      return;
    }
    const head = readMessageHead(incoming.headers, rest, this.id);
    if ("malformed" in head) {
      refuse(incoming, outgoing, malformed(head.malformed));
      return;
    }
    const reservation = this.#backlog.reserve(declaredLength(incoming));
    if (reservation === undefined) {
      this.#counts.overCapacity++;
      refuse(incoming, outgoing, REFUSALS.overCapacity);
      return;
    }
    const exchange = new Exchange({
      incoming,
      outgoing,
      correlationId: correlationIdOf(incoming),
      deadline: this.#deps.clock.monotonic() + this.#deps.responseTimeoutMs,
      answers: this.#answers,
      signals: this.#signals,
      onEnd: this.#onEnd,
    });
    exchange.reservation = reservation;
    exchange.place = this.#unanswered.append(exchange);
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    readBody(
      incoming,
      (size) => this.#admit(size, exchange),
      (body) => this.#arrived(body, exchange, head),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#sweeper?.[Symbol.dispose]();
    this.#inbox.close();
    await this.#mounted?.[Symbol.asyncDispose]();
    await this.#expected[Symbol.asyncDispose]();
  }

  /** What can be said before the request is looked at as a message; the key comes first (contract §2). */
  #check(incoming: IncomingMessage): Reply | undefined {
    if (this.#deps.localOnly && !isLocalCall(incoming)) {
      this.#counts.foreign++;
      return REFUSALS.foreign;
    }
    if (!this.#authorised(incoming.headers)) {
      this.#counts.unauthorized++;
      return REFUSALS.unauthorized;
    }
    if (incoming.method !== "POST") return REFUSALS.methodNotAllowed;
    if (!this.#inbox.accepting) return REFUSALS.stopping;
    if (incoming.rawHeaders.length > 2 * MAX_HEADER_FIELDS) return REFUSALS.tooManyHeaders;
    if (declaredLength(incoming) > this.#deps.maxBody) return REFUSALS.tooLarge;
    return undefined;
  }

  #admit(size: number, { reservation }: Exchange): Reply | undefined {
    // It was answered before its body was complete: the rest is for nobody.
    if (reservation === undefined) return REFUSALS.slowBody;
    if (size > this.#deps.maxBody) return REFUSALS.tooLarge;
    return this.#backlog.extend(reservation, size) ? undefined : REFUSALS.overCapacity;
  }

  #arrived(body: Uint8Array | Reply | undefined, exchange: Exchange, head: MessageHead): void {
    if (exchange.ended) return;
    if (body === undefined) {
      exchange.abandon();
    } else if (body instanceof Uint8Array) {
      exchange.delivery = new HttpDelivery({ ...head, payload: body }, exchange);
      this.#inbox.offer(exchange);
    } else {
      if (body === REFUSALS.overCapacity) this.#counts.overCapacity++;
      exchange.refuse(body);
    }
  }

  #sweep(): void {
    const now = this.#deps.clock.monotonic();
    for (let { first } = this.#unanswered; first !== undefined && first.deadline <= now; { first } = this.#unanswered) {
      if (first.delivery === undefined) {
        first.refuse(REFUSALS.slowBody);
      } else {
        this.#counts.notConfirmed++;
        first.refuse(REFUSALS.notConfirmed);
      }
    }
  }

  #refuseAll(): void {
    this.#signals.clear();
    for (let { first } = this.#unanswered; first !== undefined; { first } = this.#unanswered) {
      first.refuse(REFUSALS.stopping);
    }
  }

  #forget(exchange: Exchange): void {
    if (exchange.place !== undefined) this.#unanswered.remove(exchange.place);
    exchange.place = undefined;
    this.#inbox.release(exchange);
  }
}

/** Each receiver shows the whole of the listener that it shares. */
function listenerCounters(stats: ListenerStats | undefined): Readonly<Record<string, number>> {
  if (stats === undefined) return {};
  const { tls, ...connections } = stats;
  if (tls === undefined) return connections;
  return {
    ...connections,
    tlsExpiresAt: Math.floor(tls.expiresAt / 1_000),
    tlsStale: Number(tls.stale),
    tlsHandshakesFailed: tls.handshakesFailed,
  };
}

/** 0 when it is not announced: the body is chunked, or there is none. */
function declaredLength(incoming: IncomingMessage): number {
  return Number(incoming.headers["content-length"] ?? 0);
}
