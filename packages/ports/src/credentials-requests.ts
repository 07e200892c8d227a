import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { orAborted } from "./async.ts";
import { timer } from "./system.ts";

/** Credentials are some hundred bytes, and a token that goes with them some thousand. */
const MAX_CREDENTIALS_BYTES = 65_536;
/** Twice the largest of a service: a batch of items. */
const MAX_ANSWER_BYTES = 33_554_432;

/** What carries the requests of a client of the SDK. */
interface Carrier {
  handle(request: object, options?: object): Promise<{ readonly response: { readonly body?: unknown } }>;
}

const asking = new AsyncLocalStorage<number>();
let askings = 0;
let isWatching = false;

/**
 * Runs `ask`; each request that is made for it is given up unless its whole answer is there within `timeoutMs` and of a size that
 * credentials have.
 */
export async function askInTime<T>(timeoutMs: number, ask: () => Promise<T>): Promise<T> {
  if (!isWatching) subscribe("http.client.request.created", watch);
  isWatching = true;
  askings++;
  try {
    return await asking.run(timeoutMs, ask);
  } finally {
    // On Node 22 a storage in use costs each promise of the process.
    if (--askings === 0) asking.disable();
  }
}

/** Bounds the answers to all requests over `carrier`: the SDK takes what comes. It asks for roles over that of the client. */
export function boundAnswers(carrier: Carrier): void {
  const handle = carrier.handle.bind(carrier);
  carrier.handle = async (request, options) => {
    const timeoutMs = asking.getStore();
    if (timeoutMs === undefined) {
      const answer = await handle(request, options);
      boundBytes(answer.response.body, MAX_ANSWER_BYTES);
      return answer;
    }
    const over = new AbortController();
    const limit = timer(timeoutMs, () => over.abort(notAnswered(timeoutMs)));
    try {
      const answer = await orAborted(handle(request, { ...options, abortSignal: over.signal }), over.signal);
      const { body } = answer.response;
      if (!boundBytes(body, MAX_CREDENTIALS_BYTES) || body.destroyed) limit[Symbol.dispose]();
      else {
        over.signal.addEventListener("abort", () => body.destroy(over.signal.reason as Error), { once: true });
        body.once("close", () => limit[Symbol.dispose]());
      }
      return answer;
    } catch (error) {
      limit[Symbol.dispose]();
      throw error;
    }
  };
}

/** Other providers make their own requests, and take no signal: these are known by where they are made. */
function watch(message: unknown): void {
  const timeoutMs = asking.getStore();
  if (timeoutMs === undefined) return;
  const { request } = message as { readonly request: ClientRequest };
  // Of an answer that comes drop by drop the connection is never idle.
  const limit = timer(timeoutMs, () => request.destroy(notAnswered(timeoutMs)));
  request.once("close", () => limit[Symbol.dispose]());
  request.prependOnceListener("response", (answer: IncomingMessage) => {
    // From here on the answer tells who reads it.
    request.on("error", () => {});
    boundBytes(answer, MAX_CREDENTIALS_BYTES);
  });
}

/** Whether there is something to bound. */
function boundBytes(body: unknown, limit: number): body is Readable {
  if (typeof (body as Partial<Readable> | undefined)?.push !== "function") return false;
  const stream = body as Readable;
  const push = stream.push.bind(stream);
  let bytes = 0;
  stream.push = (chunk: Buffer | null): boolean => {
    bytes += chunk?.length ?? 0;
    if (bytes <= limit) return push(chunk);
    stream.destroy(Object.assign(new Error(`the answer has more than ${limit} bytes`), { code: "ECONNABORTED" }));
    return false;
  };
  return true;
}

function notAnswered(timeoutMs: number): Error {
  return new Error(`the request for credentials was not answered within ${timeoutMs} ms`);
}
