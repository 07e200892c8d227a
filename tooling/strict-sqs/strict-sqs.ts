/**
 * A double of SQS that is strict where emulators are not: FIFO queues hand out several messages of a group, in order, and
 * lock it while one is in flight; receipts expire; limits are limits. It speaks the JSON protocol over HTTP. @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSignedAtAnotherTime } from "../signing-time.ts";
import { ACTIONS, type EntriesFault } from "./actions.ts";
import { type DoubleClock, machineTime } from "./clock.ts";
import { LongPolls } from "./long-polls.ts";
import { StrictQueue } from "./queue.ts";
import { Refusal } from "./refusal.ts";
import type { Call, Fault } from "./wire.ts";

export type { Call, Fault } from "./wire.ts";
export type { StrictQueue } from "./queue.ts";

export interface StrictSqsOptions {
  /** A test that owns the time gives it to the double too. Default: the machine's. */
  readonly clock?: DoubleClock;
}

export interface StrictSqs extends AsyncDisposable {
  readonly port: number;
  /** Makes a queue, or finds it; returns its URL. One whose name ends in `.fifo` is a FIFO queue. */
  createQueue(name: string, attributes?: Readonly<Record<string, string>>): string;
  queue(url: string): StrictQueue;
  /** Ends every visibility timeout of a queue, as if that much time had passed. */
  lapse(url: string): void;
  /**
   * How far its own time is ahead of the machine's, in milliseconds; requests signed more than five minutes before or after
   * it are refused. Default: 0.
   */
  ahead: number;
  /** What a request signed at another time is refused with. Default: `InvalidSignatureException`. */
  skewCode: string;
  /** Every call so far. */
  readonly calls: readonly Call[];
  /** Asked before each call whether it is to go wrong. */
  fault: ((call: Call) => Fault | undefined) | undefined;
}

const HOST = "127.0.0.1";
const CONTENT_TYPE = "application/x-amz-json-1.0";

export async function startStrictSqs({ clock = machineTime }: StrictSqsOptions = {}): Promise<StrictSqs> {
  const queues = new Map<string, StrictQueue>();
  const calls: Call[] = [];
  const now = (): number => clock.monotonic() / 1_000;
  const polls = new LongPolls(clock);

  function createQueue(name: string, attributes: Readonly<Record<string, string>> = {}): string {
    if (!/^[\w-]{1,80}(?:\.fifo)?$/.test(name)) throw new Refusal("InvalidParameterValue", "The name is not allowed.");
    const deadLetters = (arn: string): StrictQueue | undefined =>
      [...queues.values()].find((queue) => queue.arn === arn);
    if (!queues.has(name)) queues.set(name, new StrictQueue({ name, attributes, now, deadLetters }));
    return `http://${HOST}:${port()}/000000000000/${name}`;
  }

  /** By the last part of the URL: the host is that of whoever stands between. */
  function queueOf(url: unknown): StrictQueue {
    const queue = queues.get(String(url).split("/").at(-1) ?? "");
    if (queue === undefined) throw new Refusal("QueueDoesNotExist", "The specified queue does not exist.");
    return queue;
  }

  async function act({ action, input }: Call, fault: EntriesFault | undefined, gone: AbortSignal): Promise<unknown> {
    if (action === "CreateQueue") {
      const attributes = input["Attributes"] as Readonly<Record<string, string>> | undefined;
      return { QueueUrl: createQueue(String(input["QueueName"]), attributes) };
    }
    const queue = queueOf(input["QueueUrl"]);
    if (action === "ReceiveMessage") return { Messages: await polls.receive(queue, input, gone) };
    const known = ACTIONS[action];
    if (known === undefined) throw new Refusal("InvalidAction", `${action} is not known.`);
    try {
      return known(queue, input, fault);
    } finally {
      polls.wake();
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const action = String(request.headers["x-amz-target"]).replace(/^AmazonSQS\./, "");
    const call: Call = { action, input: JSON.parse(Buffer.concat(chunks).toString()) as Call["input"] };
    calls.push(call);
    const fault = double.fault?.(call);
    response.setHeader("date", new Date(Date.now() + double.ahead).toUTCString());
    try {
      if (isSignedAtAnotherTime(request, double.ahead)) {
        throw new Refusal(double.skewCode, "Signature not yet current, or expired.", 403);
      }
      if (fault?.kind === "hang") return;
      if (fault?.kind === "answer") {
        response.writeHead(fault.status ?? 200, { "content-type": CONTENT_TYPE }).end(fault.body);
        return;
      }
      if (fault?.kind === "refuse") throw new Refusal(fault.code, "injected", fault.status);
      const result = await act(call, fault?.kind === "entries" ? fault : undefined, gone.signal);
      if (fault?.kind === "lose") request.socket.destroy();
      else answer(response, 200, result);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.setHeader("x-amzn-query-error", `${error.olderCode};Sender`);
      answer(response, error.status, { __type: `com.amazonaws.sqs#${error.code}`, message: error.message });
    }
  }

  const server = createServer((request, response) => {
    // Whoever hangs up in the middle of a request wants no answer.
    handle(request, response).catch(() => request.socket.destroy());
  }).listen(0, HOST);
  await once(server, "listening");
  const port = (): number => (server.address() as AddressInfo).port;

  const double: StrictSqs = {
    port: port(),
    createQueue,
    queue: queueOf,
    lapse(url) {
      queueOf(url).lapse();
      polls.wake();
    },
    ahead: 0,
    skewCode: "InvalidSignatureException",
    calls,
    fault: undefined,
    async [Symbol.asyncDispose]() {
      polls[Symbol.dispose]();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return double;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": CONTENT_TYPE });
  response.end(JSON.stringify(body));
}
