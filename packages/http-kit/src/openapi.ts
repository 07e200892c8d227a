import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import * as v from "valibot";
import { isOptional } from "./decode.ts";
import { takesTurns } from "./answers-at-once.ts";
import type { Answer, Endpoint } from "./endpoint.ts";
import { STREAM_TYPE, type StreamRow } from "./event-stream.ts";
import { STREAM_ENDS } from "./open-stream.ts";
import { SHOWABLE } from "./showable.ts";
import { PERMISSIONS } from "@bridge/ports/internal";

export interface OpenApiOptions {
  readonly title: string;
  readonly endpoints: readonly Endpoint[];
  /** Schemas that the document names and refers to, by name. */
  readonly schemas?: Readonly<Record<string, v.GenericSchema>> | undefined;
  /** Whether callers show keys. Else the program has a way of its own, of which nothing is known here, and permissions. */
  readonly byKey: boolean;
  /** Whether a browser may have a session in place of a key. */
  readonly hasSessions: boolean;
}

/** The body of every error (spec 7.2). */
const errorSchema = v.strictObject({ error: v.pipe(v.string(), v.description("What is wrong, for people to read.")) });

const needed = v.pipe(v.picklist(PERMISSIONS), v.description("The permission that you have not."));

/** The body of a 403. */
const forbiddenSchema = v.strictObject({ ...errorSchema.entries, reason: v.literal("permission"), needs: needed });

/** The same where another page may misuse a session. */
const forbiddenToSessions = v.strictObject({
  ...errorSchema.entries,
  reason: v.pipe(
    v.picklist(["permission", "csrf"]),
    v.description("`csrf`: another page may have sent the request with the cookie of your session."),
  ),
  needs: v.optional(needed),
});

/** The last event of every stream. */
const byeSchema = v.object({ why: v.picklist(STREAM_ENDS) });

const SECURITY_SCHEMES = {
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  bearer: { type: "http", scheme: "bearer" },
} as const;

const SESSION_SCHEME = {
  session: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-bridge-{id}",
    description:
      "Set by POST /api/v1/admin/session. `{id}` stands for the first 8 hex digits of SHA-256 of the bridge's id; without TLS the name begins with `bridge-`. What is neither GET nor HEAD also needs the header `X-Bridge-Console: 1`, and an `Origin` whose host and port are those of `Host`.",
  },
} as const;

/** What lets a caller in. */
type Ways = Pick<OpenApiOptions, "byKey" | "hasSessions">;

/** The OpenAPI 3.1 document of a table, from the schemas that the server validates with. */
export function openApiDocument({ title, endpoints, schemas = {}, ...ways }: OpenApiOptions): Record<string, unknown> {
  const definitions = { ...schemas, Error: errorSchema, Forbidden: forbiddenOf(ways) };
  const config: ConversionConfig = {
    target: "draft-2020-12",
    typeMode: "input",
    definitions,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    // What a check or a custom schema means is said by the metadata beside it.
    ignoreActions: ["check", SHOWABLE],
    overrideSchema: ({ valibotSchema }) => (valibotSchema.type === "custom" ? {} : undefined),
  };
  const convert = (schema: v.GenericSchema): object => {
    const { $schema: _, $defs: __, ...jsonSchema } = toJsonSchema(schema, config);
    return jsonSchema;
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const row of endpoints) (paths[row.path] ??= {})[row.method.toLowerCase()] = operation(row, ways, convert);
  return {
    openapi: "3.1.0",
    info: { title, version: "1" },
    servers: [{ url: "/", description: "The server that this document comes from." }],
    paths,
    components: {
      schemas: toJsonSchemaDefs(definitions, config),
      ...(ways.byKey && { securitySchemes: { ...SECURITY_SCHEMES, ...(ways.hasSessions && SESSION_SCHEME) } }),
    },
  };
}

type Convert = (schema: v.GenericSchema) => object;

function forbiddenOf({ hasSessions }: Ways): v.GenericSchema {
  return hasSessions ? forbiddenToSessions : forbiddenSchema;
}

function operation(row: Endpoint, ways: Ways, convert: Convert): object {
  const parameters = [...pathParameters(row), ...queryParameters(row, convert), ...headerParameters(row)];
  return {
    operationId: operationId(row),
    summary: row.summary,
    ...(row.access === "open" ? { security: [] } : ways.byKey && { security: securityOf(row, ways) }),
    ...(row.access !== "open" && { "x-permission": permissionsOf(row) }),
    ...(parameters.length > 0 && { parameters }),
    ...(row.body !== undefined && {
      requestBody: {
        required: !isOptional(row.body),
        content: { [row.bodyType ?? "application/json"]: { schema: convert(row.body) } },
      },
    }),
    responses: responses(row, ways, convert),
  };
}

function securityOf({ byKeyOnly }: Endpoint, { hasSessions }: Ways): readonly object[] {
  return [{ apiKey: [] }, { bearer: [] }, ...(hasSessions && byKeyOnly !== true ? [{ session: [] }] : [])];
}

/** All that may be asked for: some bodies need another one. */
function permissionsOf({ needs = "read", needsFor = [], mayNeed = [] }: Endpoint): readonly string[] {
  const more = [...needsFor.map(({ permission }) => permission), ...mayNeed];
  const all = new Set<string>([needs, ...more]);
  // Something has to be there, and what that is the rest says.
  if (more.length > 0) all.delete("any");
  return [...all];
}

function headerParameters({ requestHeaders = {} }: Endpoint): readonly object[] {
  return Object.entries(requestHeaders).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
}

function pathParameters(row: Endpoint): readonly object[] {
  return Object.entries(row.params ?? {}).map(([name, description]) => ({
    name,
    in: "path",
    required: true,
    description,
    schema: { type: "string" },
  }));
}

interface QueryJsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: string;
}

function queryParameters(row: Endpoint, convert: Convert): readonly object[] {
  return Object.entries(row.query?.entries ?? {}).map(([name, schema]) => {
    const { description, default: fallback, ...rest } = convert(schema) as QueryJsonSchema;
    return {
      name,
      in: "query",
      required: false,
      ...(description !== undefined && { description }),
      schema: {
        ...rest,
        // On the wire it is text; what it stands for is told.
        ...(fallback !== undefined && { default: rest.type === "integer" ? Number(fallback) : fallback }),
      },
    };
  });
}

function responses(row: Endpoint, ways: Ways, convert: Convert): object {
  const own = Object.entries(row.answers).map(([status, answer]) => {
    const { stream } = row;
    const events = answer.contentType === STREAM_TYPE ? stream?.events : undefined;
    return [
      status,
      events === undefined ? response(answer, convert) : streamed(events, answer.description, convert),
    ] as const;
  });
  const errors = Object.entries({ ...sharedRefusals(row, ways), ...row.refusals, ...unavailable(row, ways) });
  return Object.fromEntries([
    ...errors.map(([status, description]) => {
      const schema = status === "403" ? forbiddenOf(ways) : errorSchema;
      return [status, response({ description, schema }, convert)] as const;
    }),
    ...own,
  ]);
}

/** What comes over a stream, by the names of its events: OpenAPI 3.1 has no word for that. */
function streamed(events: NonNullable<StreamRow["events"]>, description: string, convert: Convert): object {
  const all = { ...events, bye: byeSchema };
  const named = Object.entries(all).map(([name, schema]) => [name, convert(schema)] as const);
  const schema = { type: "string", description: "Events of which each has one line `data`, a JSON object." };
  return { description, content: { [STREAM_TYPE]: { schema, "x-events": Object.fromEntries(named) } } };
}

function response({ description, schema, contentType = "application/json" }: Answer, convert: Convert): object {
  return { description, content: { [contentType]: { schema: convert(schema) } } };
}

/** What the server answers to any endpoint of this kind, before or after the endpoint has its say. */
function sharedRefusals(row: Endpoint, ways: Ways): Readonly<Record<number, string>> {
  const forbidden = forbiddenTo(row, ways);
  return {
    400: "The query or the body is invalid.",
    ...(row.access !== "open" && {
      401: ways.byKey ? "The API key is missing or wrong." : "You are not authenticated.",
      ...(forbidden !== "" && { 403: forbidden }),
      429: "Too many failed authentication attempts; Retry-After says how many seconds to wait.",
    }),
    ...(row.method !== "GET" && { 413: "The body is larger than 1 MB." }),
    500: "The request failed; the log says why.",
  };
}

function forbiddenTo(row: Endpoint, { hasSessions }: Ways): string {
  const [first = "any"] = permissionsOf(row);
  const reasons = [
    first !== "any" && `You may not do this; \`needs\` is the permission that it takes, such as ${first}.`,
    hasSessions && row.byKeyOnly !== true && "Another page may have sent it with the cookie of a session.",
  ];
  return reasons.filter((reason) => typeof reason === "string").join(" Or: ");
}

/** What stands beside an endpoint's own 503: too many calls, one that cannot be recorded, or that nobody can tell who calls. */
function unavailable(row: Endpoint, { byKey }: Ways): Readonly<Record<number, string>> {
  const { access, audit, refusals } = row;
  const reasons = [
    refusals?.[503],
    row.stream !== undefined &&
      `There are ${row.stream.tooMany ?? "too many streams"}; Retry-After says when to try again.`,
    takesTurns(row) && "Too many ask for this; Retry-After says when to try again.",
    audit !== undefined && "The audit log cannot be written, or not in time; nothing was done.",
    access !== "open" && !byKey && "Authentication is not available.",
  ].filter((reason) => typeof reason === "string");
  return reasons.length === 0 ? {} : { 503: reasons.join(" Or: ") };
}

/** `POST /api/v1/admin/dlq/delete-by-filter` is `postAdminDlqDeleteByFilter`. */
function operationId({ method, path }: Endpoint): string {
  const words = path.replace("/api/v1", "").match(/[A-Za-z]+/g) ?? [];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
