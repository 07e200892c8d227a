import type { Seams } from "@bridge/ports";
import { Hono } from "hono";
import * as v from "valibot";
import { allowedMethods } from "./allowed-methods.ts";
import { type AuthRefusal, AuthRefusals } from "./auth-refusals.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { byKey, createAuthenticator } from "./authenticator.ts";
import { createCors } from "./cors.ts";
import { type Access, type Endpoint, endpointFor } from "./endpoint.ts";
import type { HttpError } from "./http-error.ts";
import type { Keyring } from "./keyring.ts";
import { type SessionOptions, Sessions } from "./session/sessions.ts";
import { openApiDocument } from "./openapi.ts";
import { type Authenticate, ownAuthentication } from "./own-authentication.ts";
import { Pipeline } from "./pipeline.ts";
import { type StreamCount, Streams } from "./streams.ts";
import { Throttle, type ThrottleOptions } from "./throttle.ts";

/** What an app has counted since it was made. */
export interface ServedCounts {
  /** Callers that were turned away. */
  readonly refusals: readonly { readonly why: AuthRefusal; readonly count: number }[];
  readonly streams: readonly StreamCount[];
  /** Sessions of browsers; `undefined`: it has none. */
  readonly sessionsBegun: number | undefined;
}

/** An app that knows which methods it has, on all of its paths together, and what it has counted. */
export type ServedApp = Hono & { readonly methods: readonly string[]; readonly counts: () => ServedCounts };

export interface ServeOptions<Action extends string> extends Seams {
  /** Names the server in its document, its realm (`bridge-<server>`) and what it records of failed logins. */
  readonly server: "admin" | "monitor";
  readonly endpoints: readonly Endpoint<Action>[];
  /** Schemas that the OpenAPI document refers to by name. */
  readonly schemas?: Readonly<Record<string, v.GenericSchema>> | undefined;
  /** Of the endpoint that serves the OpenAPI document. */
  readonly describe: { readonly access: Access; readonly audit?: Action };
  /** The keys that open the endpoints whose access is not `open`. Absent: `authenticate` says who may call. */
  readonly keyring?: Keyring | undefined;
  /** Sessions for browsers, of a keyring that can have any. Absent: there are none. */
  readonly sessions?: SessionOptions | undefined;
  /** Tells who calls and what they may do, in place of keys. */
  readonly authenticate?: Authenticate | undefined;
  readonly audit: AuditTrail<Action>;
  /** Origins that browsers may call from (spec 5.8). Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  readonly throttle?: ThrottleOptions | undefined;
  /** Takes out of what others have said what must not be seen; asked at each call. Default: everything may. */
  readonly veil?: (() => ((text: string) => string) | undefined) | undefined;
  /** The answer to an error of the work; `undefined` when it is unexpected, which is logged and answered with 500. */
  readonly translate?: ((error: unknown) => HttpError | undefined) | undefined;
}

/**
 * The app of a table of endpoints, with its OpenAPI document at `/api/v1/openapi.json` and at `/api/v1/<server>/openapi.json`.
 *
 * It claims `/api/v1/<server>/*` and the first of these, and nothing else, when another app mounts it.
 * @throws Error when an origin is malformed, or there is not one of `keyring` and `authenticate`
 */
export function serve<Action extends string>(options: ServeOptions<Action>): ServedApp {
  const { server, keyring, authenticate, audit, clock, logger, random, corsOrigins = [] } = options;
  if (authenticate !== undefined && typeof authenticate !== "function")
    throw new TypeError(
      `authenticate is ${authenticate === null ? "null" : `of type ${typeof authenticate}`}: give a function, or leave it out`,
    );
  const sessions =
    options.sessions && keyring?.holder
      ? new Sessions(options.sessions, {
          holder: (name) => keyring.holder?.(name),
          origins: corsOrigins,
          clock,
          random,
        })
      : undefined;
  const identify =
    authenticate !== undefined ? ownAuthentication(authenticate, options) : keyring && byKey(keyring, sessions);
  if (identify === undefined || (authenticate !== undefined && keyring !== undefined))
    throw new Error(`the ${server} server needs keys or a function authenticate, and not both`);
  const endpoints = [...options.endpoints];
  // The second path is this server's own, so that one prefix can hold both servers.
  for (const path of ["/api/v1/openapi.json", `/api/v1/${server}/openapi.json`] as const)
    endpoints.push(describeRow(path, options.describe, () => document));
  const document = openApiDocument({
    title: `Bridge ${server} server`,
    endpoints,
    schemas: options.schemas,
    byKey: authenticate === undefined,
    hasSessions: sessions !== undefined,
  });
  const streams = new Streams(
    clock,
    endpoints.flatMap(({ stream }) => stream?.kind ?? []),
  );
  const refusals = new AuthRefusals();
  const pipeline = new Pipeline<Action>({
    server,
    streams,
    sessions,
    refusals,
    clock,
    logger,
    random,
    audit,
    authenticate: createAuthenticator({
      server,
      identify,
      refusal: authenticate === undefined ? "invalid or missing API key" : "not authenticated",
      audit,
      refusals,
      throttle: new Throttle(clock, options.throttle),
    }),
    called: authenticate === undefined ? "the key " : "",
    cors: createCors(corsOrigins, new Set(endpoints.map((row) => row.method))),
    hidesPaths: endpoints.every((row) => row.access !== "open"),
    translate: options.translate ?? (() => undefined),
    veil: options.veil ?? (() => undefined),
  });
  const app = new Hono();
  for (const [path, rows] of Map.groupBy(endpoints, (row) => row.path))
    app.all(path.replaceAll(/\{(\w+)\}/g, ":$1"), (context) => pipeline.handle(context, rows));
  app.all(`/api/v1/${server}/*`, (context) => pipeline.handle(context, []));
  app.notFound((context) => pipeline.handle(context, []));
  return Object.assign(app, {
    methods: [...new Set(allowedMethods(endpoints))],
    counts: () => ({ refusals: refusals.counts(), streams: streams.counts(), sessionsBegun: sessions?.begun }),
  });
}

function describeRow<Action extends string>(
  path: `/api/v1/${string}`,
  { access, audit }: { readonly access: Access; readonly audit?: Action },
  document: () => Record<string, unknown>,
): Endpoint<Action> {
  return endpointFor<Action>()({
    method: "GET",
    path,
    access,
    ...(audit !== undefined && { audit }),
    summary: "This document.",
    answers: {
      200: { description: "An OpenAPI 3.1 document.", schema: v.record(v.string(), v.unknown()) },
    },
  }).handle(() => ({ status: 200, body: document() }));
}
