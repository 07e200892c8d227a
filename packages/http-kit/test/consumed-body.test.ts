import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type Logger, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { createKeyring, type Endpoint, endpointFor, serve } from "../src/index.ts";
import { type Action, KEY, thingEndpoints } from "./server.ts";

const optionalBody: Endpoint<Action> = endpointFor<Action>()({
  method: "POST",
  path: "/api/v1/admin/maybe",
  access: "admin",
  summary: "Takes a body or none.",
  body: v.optional(v.strictObject({ all: v.boolean() }), { all: true }),
  answers: { 200: { description: "What was taken.", schema: v.object({ all: v.boolean() }) } },
}).handle(({ body }) => ({ status: 200, body }));

function app(logger: Logger = silentLogger): Hono {
  return serve<Action>({
    server: "admin",
    endpoints: [...thingEndpoints(), optionalBody],
    describe: { access: "admin" },
    keyring: createKeyring([{ name: "alice", key: KEY }]),
    audit: { record: async () => true, hasRoomFor: async () => true },
    clock: systemClock,
    random: systemRandom(),
    logger,
  });
}

/** What stands in front of the server in a program of node's own `http`, as express and its like do. */
const PARSERS: Readonly<Record<string, (incoming: IncomingMessage & Record<string, unknown>) => Promise<void>>> = {
  nothing: async () => {},
  "a parser that keeps the bytes as rawBody": async (incoming) => void (incoming["rawBody"] = await buffer(incoming)),
  "a parser": async (incoming) => void (incoming["body"] = JSON.parse((await buffer(incoming)).toString() || "null")),
};

/** What stands in front of it in an app of hono. */
const MIDDLEWARE: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
  nothing: async () => {},
  "a copy that is read": (context) => context.req.raw.clone().text(),
  "a parser": (context) => context.req.text(),
};

const TAKEN = {
  error: "the request body was read before it came here: mount this server in front of what parses bodies",
};

type Answer = readonly [number, unknown];

async function post(
  carry: (path: string, init: RequestInit) => Promise<Response>,
  path: string,
  body: string,
  chunked: boolean,
): Promise<Answer> {
  const response = await carry(`/api/v1/admin/${path}`, {
    method: "POST",
    headers: { "X-API-Key": KEY, "Content-Type": "application/json" },
    ...(body !== "" && { body: chunked ? new Blob([body]).stream() : body, duplex: "half" }),
  });
  return [response.status, await response.json()];
}

async function onNode(parser: string, errors: unknown[]) {
  const logger: Logger = { ...silentLogger, error: (message) => errors.push(message), child: () => logger };
  const answer = getRequestListener(app(logger).fetch);
  const server = createServer((incoming, outgoing) => {
    void PARSERS[parser]?.(incoming as never).then(() => answer(incoming, outgoing));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    carry: (path: string, init: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init),
    [Symbol.dispose]: () => void server.close(),
  };
}

function inHono(middleware: string) {
  const outer = new Hono();
  outer.use(async (context, next) => {
    await MIDDLEWARE[middleware]?.(context);
    await next();
  });
  outer.route("/", app());
  return { carry: async (path: string, init: RequestInit) => outer.request(path, init), [Symbol.dispose]: () => {} };
}

const carriers = [
  ...Object.keys(PARSERS).map((front) => ["node:http", front] as const),
  ...Object.keys(MIDDLEWARE).map((front) => ["hono", front] as const),
];

describe.each([false, true])("a body whose length is not announced: %s", (chunked) => {
  test.each(carriers)("on %s, behind %s: it is taken, or the answer names the remedy", async (carrier, front) => {
    const errors: unknown[] = [];
    using server = carrier === "hono" ? inHono(front) : await onNode(front, errors);
    const taken = front === "a parser";
    const call = (path: string, body: string) => post(server.carry, path, body, chunked);
    const expected = (answer: Answer): Answer => (taken ? [500, TAKEN] : answer);
    expect(await call("things", '{"names":["a","b"]}')).toEqual(expected([200, { written: 2 }]));
    expect(await call("maybe", '{"all":false}')).toEqual(expected([200, { all: false }]));
    expect(await call("maybe", "")).toEqual([200, { all: true }]);
    expect(await call("poke", "{}")).toEqual([200, { poked: true }]);
    if (taken && carrier !== "hono") expect(errors).toContain("request failed unexpectedly");
  });
});
