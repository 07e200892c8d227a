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

interface Answer {
  readonly body?: unknown;
  readonly statusCode?: number;
}

/** What carries the requests of a client of the SDK. */
interface Carrier {
  handle(request: { readonly hostname?: string }, options?: object): Promise<{ readonly response: Answer }>;
}

/** One search for credentials, which may take several requests. */
interface Search {
  readonly timeoutMs: number;
  /** What became of the request that failed last, in words of ours: those of others may quote an answer. */
  why?: string;
}

const asking = new AsyncLocalStorage<Search>();
let askings = 0;
let isWatching = false;

/** There are no credentials; its text quotes nothing that came. */
export class NoCredentialsError extends Error {
  /** By which those who judge the SDK's errors know it. */
  override readonly name = "CredentialsProviderError";
}

/**
 * Runs `ask`; each request that is made for it is given up unless its whole answer is there within `timeoutMs` and of a size that
 * credentials have.
 *
 * @throws NoCredentialsError
 */
export async function askInTime<T>(timeoutMs: number, ask: () => Promise<T>): Promise<T> {
  if (!isWatching) subscribe("http.client.request.created", watch);
  isWatching = true;
  askings++;
  const search: Search = { timeoutMs };
  try {
    return await asking.run(search, ask);
  } catch (thrown) {
    throw new NoCredentialsError(search.why ?? "the SDK has found no credentials", { cause: thrown });
  } finally {
    // On Node 22 a storage in use costs each promise of the process.
    if (--askings === 0) asking.disable();
  }
}

/** Bounds the answers to all requests over `carrier`: the SDK takes what comes. It asks for roles over that of the client. */
export function boundAnswers(carrier: Carrier): void {
  const handle = carrier.handle.bind(carrier);
  carrier.handle = async (request, options) => {
    const search = asking.getStore();
    if (search === undefined) {
      const answer = await handle(request, options);
      boundBytes(answer.response.body, MAX_ANSWER_BYTES);
      return answer;
    }
    const over = new AbortController();
    const limit = timer(search.timeoutMs, () => over.abort(notAnswered(search, request.hostname)));
    try {
      const answer = await orAborted(handle(request, { ...options, abortSignal: over.signal }), over.signal);
      const { body, statusCode } = answer.response;
      noteStatus(search, request.hostname, statusCode);
      if (!boundBytes(body, MAX_CREDENTIALS_BYTES, search) || body.destroyed) limit[Symbol.dispose]();
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
  const search = asking.getStore();
  if (search === undefined) return;
  const { request } = message as { readonly request: ClientRequest };
  search.why = `${request.host} cannot be asked for credentials`;
  // Of an answer that comes drop by drop the connection is never idle.
  const limit = timer(search.timeoutMs, () => request.destroy(notAnswered(search, request.host)));
  request.once("close", () => limit[Symbol.dispose]());
  request.prependOnceListener("response", (answer: IncomingMessage) => {
    // From here on the answer tells who reads it.
    request.on("error", () => {});
    noteStatus(search, request.host, answer.statusCode);
    boundBytes(answer, MAX_CREDENTIALS_BYTES, search);
  });
}

/** Whether there is something to bound. */
function boundBytes(body: unknown, limit: number, search?: Search): body is Readable {
  if (typeof (body as Partial<Readable> | undefined)?.push !== "function") return false;
  const stream = body as Readable;
  const push = stream.push.bind(stream);
  let bytes = 0;
  stream.push = (chunk: Buffer | null): boolean => {
    bytes += chunk?.length ?? 0;
    if (bytes <= limit) return push(chunk);
    const why = `the answer has more than ${limit} bytes`;
    if (search !== undefined) search.why = `${why}, which are no credentials`;
    stream.destroy(Object.assign(new Error(why), { code: "ECONNABORTED" }));
    return false;
  };
  return true;
}

function noteStatus(search: Search, host: string | undefined, status = 0): void {
  search.why = `${host ?? "somebody"} was asked for credentials and answered ${status}${status === 200 ? ", which are none" : ""}`;
}

function notAnswered(search: Search, host: string | undefined): Error {
  search.why = `${host ?? "somebody"} was asked for credentials and has not answered within ${search.timeoutMs} ms`;
  return new Error(search.why);
}
