/**
 * DynamoDB for tests: an emulator behind a proxy that can be told to misbehave as the service and its network do. What
 * emulators do not show (throttling, leftovers of a batch, lost answers, indexes that lag) is made here. The emulator is
 * dynalite in this process, which has neither transactions nor time to live, or the one whose address
 * `BRIDGE_TEST_DYNAMODB` has, such as DynamoDB Local. @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { env } from "node:process";
import { type DynamoAnswer as Answer, emulatorAt, emulatorHere } from "./dynamo-emulator.ts";
import { isSignedAtAnotherTime } from "./signing-time.ts";

export type DynamoFault =
  /** Answered with this error of the service; nothing is done. Default status: 400. */
  | { readonly error: string; readonly status?: number }
  /** Nothing is done, and something in between answers with a page of this status. */
  | { readonly page: number }
  /** Nothing is done, and the connection is cut. */
  | "cut"
  /** It is done, and the connection is cut before the answer. */
  | "lose-answer"
  /** Nothing is done, and there is never an answer. */
  | "hang"
  /** Nothing is done, and the answer says yes and is empty, as that of something broken in between. */
  | "empty"
  /** Nothing is done, and the answer says yes and is this. */
  | { readonly answer: object }
  /** It is done, and there is never an answer. */
  | "hang-after"
  /** Of a batch only the first so many are done; the rest is left over. */
  | { readonly atMost: number };

export interface TestDynamo extends AsyncDisposable {
  readonly endpoint: string;
  /** Whether it is dynalite: without time to live, and with the capacity that a table takes and not its indexes. */
  readonly isDynalite: boolean;
  /** For the client: where it is, and credentials that are none. */
  readonly sdk: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  /** The operations asked for since the last {@link reset}, those that a fault hit included. */
  readonly operations: readonly string[];
  /** Forgets the operations, the answers, and the faults that are still to come. */
  reset(): void;
  /** How far the service's time is ahead of the machine's, in milliseconds; it refuses what is signed at another time. Default: 0. */
  ahead: number;
  /** The next `times` requests for the operation (`*`: any) meet the fault. Several wait for their turn. */
  inject(operation: string, fault: DynamoFault, times?: number): void;
  /** Chooses the fault of each request that no injected one hits. Default: none. */
  choose: (operation: string, body: string) => DynamoFault | undefined;
  /** While it is true, each query of an index gets the answer that it had the last time it was asked, if it was. */
  staleIndexes: boolean;
  /** Is awaited between what was done and its answer. Default: nothing. */
  beforeAnswer: (operation: string) => Promise<void>;
}

interface Injected {
  readonly operation: string;
  readonly fault: DynamoFault;
  left: number;
}

type Batch = Record<string, unknown[] | { readonly Keys: unknown[] }>;

const HOST = "127.0.0.1";
const ELSEWHERE = env["BRIDGE_TEST_DYNAMODB"];
const CONTENT_TYPE = "application/x-amz-json-1.0";

/** An empty one, on a free port of loopback. */
export async function testDynamo(): Promise<TestDynamo> {
  const emulator = ELSEWHERE === undefined ? emulatorHere() : emulatorAt(ELSEWHERE);
  const injected: Injected[] = [];
  const operations: string[] = [];
  const lastAnswers = new Map<string, Answer>();

  function faultOf(operation: string, body: string): DynamoFault | undefined {
    const hit = injected.find((one) => one.left > 0 && (one.operation === "*" || one.operation === operation));
    if (hit === undefined) return dynamo.choose(operation, body);
    hit.left--;
    return hit.fault;
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const operation = String(incoming.headers["x-amz-target"]).split(".")[1] ?? "";
    operations.push(operation);
    outgoing.setHeader("date", new Date(Date.now() + dynamo.ahead).toUTCString());
    const late = isSignedAtAnotherTime(incoming, dynamo.ahead);
    const fault = late ? { error: "InvalidSignatureException", status: 403 } : faultOf(operation, body);
    if (fault === "hang") return;
    if (fault === "cut") {
      outgoing.destroy();
      return;
    }
    if (typeof fault === "object" && "page" in fault) {
      outgoing.writeHead(fault.page, { "content-type": "text/html" }).end("<html>Who are you?</html>");
      return;
    }
    if (fault === "empty" || (typeof fault === "object" && "answer" in fault)) {
      const said = fault === "empty" ? {} : fault.answer;
      outgoing.writeHead(200, { "content-type": CONTENT_TYPE }).end(JSON.stringify(said));
      return;
    }
    const answer = await answerTo(incoming, body, fault);
    await dynamo.beforeAnswer(operation);
    if (fault === "hang-after") return;
    if (fault === "lose-answer") {
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(answer.status, { "content-type": CONTENT_TYPE }).end(answer.body);
  }

  async function answerTo(
    incoming: IncomingMessage,
    body: string,
    fault: Exclude<DynamoFault, { readonly answer: object } | { readonly page: number }> | undefined,
  ): Promise<Answer> {
    if (typeof fault === "object" && "error" in fault) {
      const type = `com.amazonaws.dynamodb.v20120810#${fault.error}`;
      return { status: fault.status ?? 400, body: JSON.stringify({ __type: type, message: "injected" }) };
    }
    if (typeof fault !== "object") return remembered(incoming, body);
    const { RequestItems, ...rest } = JSON.parse(body) as { readonly RequestItems: Batch };
    const [done, left] = splitBatch(RequestItems, fault.atMost);
    const leftovers = { UnprocessedItems: left, UnprocessedKeys: left };
    // A batch of nothing is an error.
    if (Object.keys(done).length === 0) {
      return { status: 200, body: JSON.stringify({ Responses: {}, ConsumedCapacity: [], ...leftovers }) };
    }
    const answer = await forward(incoming, JSON.stringify({ ...rest, RequestItems: done }));
    return { ...answer, body: JSON.stringify({ ...(JSON.parse(answer.body) as object), ...leftovers }) };
  }

  async function remembered(incoming: IncomingMessage, body: string): Promise<Answer> {
    if (!body.includes('"IndexName"')) return forward(incoming, body);
    const last = dynamo.staleIndexes ? lastAnswers.get(body) : undefined;
    const answer = last ?? (await forward(incoming, body));
    lastAnswers.set(body, answer);
    return answer;
  }

  function forward({ headers }: IncomingMessage, body: string): Promise<Answer> {
    return emulator.ask(headers, body);
  }

  const proxy = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const endpoint = `http://${HOST}:${await listen(proxy)}`;
  const dynamo: TestDynamo = {
    endpoint,
    isDynalite: ELSEWHERE === undefined,
    sdk: { endpoint, region: "us-east-1", credentials: { accessKeyId: "test", secretAccessKey: "test" } },
    operations,
    ahead: 0,
    reset() {
      dynamo.ahead = 0;
      operations.length = 0;
      injected.length = 0;
      lastAnswers.clear();
      dynamo.staleIndexes = false;
      dynamo.choose = () => undefined;
      dynamo.beforeAnswer = async () => {};
    },
    inject: (operation, fault, times = 1) => void injected.push({ operation, fault, left: times }),
    choose: () => undefined,
    staleIndexes: false,
    beforeAnswer: async () => {},
    async [Symbol.asyncDispose]() {
      await Promise.all([close(proxy), emulator[Symbol.asyncDispose]()]);
    },
  };
  return dynamo;
}

/** The first `count` writes or keys of a batch, and the rest. */
function splitBatch(items: Batch, count: number): readonly [done: Batch, left: Batch] {
  const done: Batch = {};
  const left: Batch = {};
  let room = count;
  for (const [table, asked] of Object.entries(items)) {
    const parts = Array.isArray(asked) ? asked : asked.Keys;
    const as = (some: unknown[]): Batch[string] => (Array.isArray(asked) ? some : { ...asked, Keys: some });
    if (room > 0) done[table] = as(parts.slice(0, room));
    if (parts.length > room) left[table] = as(parts.slice(room));
    room = Math.max(0, room - parts.length);
  }
  return [done, left];
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function listen(server: Server): Promise<number> {
  server.listen(0, HOST);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
