import { once } from "node:events";
import { connect } from "node:net";
import { announce } from "@bridge/tooling/announce";
import type { ClientMemory, TlsFiles } from "@bridge/net-kit";
import { type Clock, type Logger, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import * as v from "valibot";
import {
  type AuthAction,
  type CallRecord,
  createKeyring,
  type Endpoint,
  endpointFor,
  HttpError,
  listen,
  type Listener,
  serve,
  type ServedApp,
  type ServeOptions,
  showable,
} from "../src/index.ts";

export const KEY = "correct-horse-battery";
export type Action = "thing.read" | "thing.write" | "thing.batch" | "api.describe";
type Entry = CallRecord<Action | AuthAction>;

const endpoint = endpointFor<Action>();
const thing = v.object({ id: v.string(), limit: v.number() });
const limit = v.optional(
  v.pipe(
    v.string(),
    v.description("How many."),
    v.metadata({ type: "integer", minimum: 1 }),
    showable(),
    v.regex(/^\d+$/, "expected an integer"),
    v.transform(Number),
  ),
  "7",
);

/** A table of everything that a row can have. `gate` is what the guard of the writing row does. */
export function thingEndpoints(gate: () => void = () => {}): readonly Endpoint<Action>[] {
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/things/{id}",
      access: "admin",
      audit: "thing.read",
      resourceId: ({ id }) => id,
      summary: "Reads a thing.",
      params: { id: "Which thing." },
      query: v.object({ limit }),
      answers: { 200: { description: "The thing.", schema: thing } },
      refusals: { 404: "There is no such thing." },
    }).handle(({ params, query }) => {
      if (params.id === "none") throw new HttpError(404, "thing not found");
      if (params.id === "bug") throw new TypeError("cannot read what is not there");
      return { status: 200, body: { id: params.id, limit: query.limit } };
    }),
    endpoint({
      method: "POST",
      path: "/api/v1/admin/things",
      access: "admin",
      audit: "thing.write",
      begin: { action: "thing.batch", detail: ({ names }) => ({ names: names.length }) },
      summary: "Writes things.",
      body: v.strictObject({
        names: v.pipe(
          v.array(v.pipe(v.string(), v.nonEmpty("must not be empty"))),
          v.minLength(1, "must not be empty"),
        ),
        dry: v.optional(v.boolean()),
      }),
      answers: {
        200: { description: "All were written.", schema: v.object({ written: v.number() }) },
        207: { description: "Some were written.", schema: v.object({ written: v.number() }) },
      },
      refusals: { 503: "The shop is closed." },
      guard: gate,
    }).handle(({ body }) => {
      const written = body.names.filter((name) => name !== "bad").length;
      return written === body.names.length
        ? { status: 200, body: { written } }
        : { status: 207, body: { written }, audit: { outcome: "partial_failure", detail: { written } } };
    }),
    endpoint({
      method: "POST",
      path: "/api/v1/admin/poke",
      access: "admin",
      summary: "Needs no body.",
      answers: { 200: { description: "Poked.", schema: v.object({ poked: v.literal(true) }) } },
    }).handle(() => ({ status: 200, body: { poked: true } })),
  ];
}

export const openEndpoint: Endpoint<Action> = endpoint({
  method: "GET",
  path: "/api/v1/admin/open",
  access: "open",
  summary: "Answers anybody.",
  headers: { "Cache-Control": "no-cache, max-age=0" },
  answers: { 200: { description: "Text.", contentType: "text/plain", schema: v.string() } },
}).handle(() => ({ status: 200, body: "hello" }));

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly entries: readonly Entry[];
  readonly errors: readonly unknown[];
  readonly warnings: readonly unknown[];
  readonly listener: Pick<Listener, "stats">;
  /** What the listener carries. */
  readonly app: ServedApp;
  close(signal: AbortSignal): Promise<void>;
  /** With the key, unless `init.headers` says otherwise. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** A POST with the key and without its body, which it says is so long. Default: 2 MB. */
  announce(path: string, length?: number): Promise<Response>;
}

/** A server on a free port of loopback. */
export async function startServer(
  options: Partial<ServeOptions<Action>> & {
    readonly tls?: TlsFiles;
    readonly addr?: string;
    readonly memory?: ClientMemory;
  } = {},
): Promise<TestServer> {
  const entries: Entry[] = [];
  const errors: unknown[] = [];
  const warnings: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (message, fields) => errors.push({ message, ...fields }),
    warn: (message, fields) => warnings.push({ message, ...fields }),
    child: () => logger,
  };
  const random = systemRandom();
  const app = serve<Action>({
    server: "admin",
    endpoints: thingEndpoints(),
    describe: { access: "admin", audit: "api.describe" },
    keyring: createKeyring([{ name: "alice", key: KEY }]),
    audit: { record: async (entry) => entries.push(entry) > 0, hasRoomFor: async () => true },
    clock: systemClock,
    random,
    logger,
    ...options,
  });
  const { tls, addr = "127.0.0.1:0", memory, clock } = options;
  const listener = await listen(
    { addr, app, tls, memory, logger, random, ...(clock !== undefined && { clock }) },
    AbortSignal.timeout(10_000),
  );
  return {
    url: listener.url,
    port: listener.port,
    entries,
    errors,
    warnings,
    listener,
    app,
    close: (signal) => listener.close(signal),
    call: (path, init) => fetch(`${listener.url}${path}`, { headers: { "X-API-Key": KEY }, ...init }),
    announce: (path, length) => announce(`${listener.url}${path}`, { headers: { "X-API-Key": KEY }, length }),
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

/** Sends bytes as they are and reads until the server ends the connection. */
export async function rawExchange(port: number, ...chunks: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  let answer = "";
  socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  for (const chunk of chunks) socket.write(chunk);
  await closed;
  return answer;
}

/** A clock that moves only when told. */
export function manualClock(): Clock & { advance(ms: number): void } {
  let now = 1_000;
  return { ...systemClock, monotonic: () => now, advance: (ms) => void (now += ms) };
}
