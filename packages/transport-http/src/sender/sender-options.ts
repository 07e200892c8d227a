import {
  bothOrNone,
  conditional,
  describe,
  integer,
  matching,
  pemFile,
  positiveDuration,
  secret,
} from "@bridge/ports/options";
import * as v from "valibot";
import { isHeaderName } from "./header-name.ts";
import { FIELDS } from "../header-fields.ts";

/** Each allowed origin may hold a pool of connections. */
const MAX_ORIGINS = 32;

const SENDABLE = /^[!-~](?:[\t -~]*[!-~])?$/;
const SENDABLE_OR_NOTHING = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;
const HTTPS = "^[Hh][Tt][Tt][Pp][Ss]:";
/** Set by the bridge for each message, or by the connection: a constant here would break one or the other. */
const NOT_CONFIGURABLE: ReadonlySet<string> = new Set([
  FIELDS.idempotencyKey,
  FIELDS.correlationId,
  FIELDS.subject,
  FIELDS.orderingKey,
  FIELDS.expiresAt,
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const url = v.pipe(
  v.string("expected a string"),
  v.metadata({ pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\{}\\s][^#\\\\{}\\s]*$" }),
  v.check((text) => isHttpUrl(text), "not an http or https URL, such as https://example.com/ingest"),
  v.check((text) => {
    const { username = "", password = "" } = URL.parse(text) ?? {};
    return username === "" && password === "";
  }, "a URL with a user part is refused: use bearer, api_key or headers"),
  v.check((text) => !/[#\\{}\s]/.test(text), "must hold no fragment, backslash, space or placeholder"),
);

const origin = v.pipe(
  v.string("expected a string"),
  v.metadata({ pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@*\\\\\\s]+/?$" }),
  v.check(
    (text) =>
      !text.includes("*") && isHttpUrl(text) && URL.parse(text)?.origin === text.toLowerCase().replace(/\/$/, ""),
    "not an origin: write one scheme, host and, unless it is the scheme's own, port, such as https://example.com",
  ),
);

const credential = v.pipe(
  secret(),
  v.regex(SENDABLE, "must be printable ASCII, without spaces at its ends, and not empty"),
);

const tls = v.pipe(
  v.strictObject({
    ca_file: describe(
      v.optional(pemFile("authorities")),
      "PEM file of the authorities to trust instead of the system's.",
    ),
    cert_file: describe(v.optional(pemFile("certificate")), "PEM file of the bridge's own certificate."),
    key_file: describe(v.optional(pemFile("key", "cert_file")), "PEM file of the key to `cert_file`."),
  }),
  v.forward(
    v.check(
      ({ cert_file, key_file }) => (cert_file === undefined) === (key_file === undefined),
      "goes with key_file: set both or none",
    ),
    ["cert_file"],
  ),
  v.metadata(bothOrNone("cert_file", "key_file")),
);

/** Options of an `http` sender (contract §8). */
export const senderOptions = v.pipe(
  v.strictObject({
    url: describe(url, "Where messages go; a binding's address is a path below it."),
    method: describe(
      v.optional(v.picklist(["POST", "PUT", "PATCH"], "expected POST, PUT or PATCH"), "POST"),
      "The method.",
    ),
    headers: describe(
      v.optional(
        v.pipe(
          v.record(
            v.string(),
            v.pipe(
              secret(),
              v.regex(SENDABLE_OR_NOTHING, "its value must be printable ASCII, without spaces at its ends"),
            ),
          ),
          v.metadata({ propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" } }),
        ),
        {},
      ),
      "Headers of every request. They win over those that a message carries, Content-Type included.",
    ),
    api_key: describe(v.optional(credential), "Sent as X-API-Key."),
    bearer: describe(v.optional(credential), "Sent as Authorization: Bearer."),
    allowed_origins: describe(
      v.optional(v.pipe(v.array(origin), v.maxLength(MAX_ORIGINS, `at most ${MAX_ORIGINS} origins`)), []),
      "Origins, besides that of url, which an address may name as an absolute URL. They get the same headers and credentials.",
    ),
    max_connections: describe(
      v.optional(integer(1, 10_000), 128),
      "The most connections to one origin. Further sends wait for one, within the route's send_timeout.",
    ),
    connect_timeout: describe(
      v.optional(positiveDuration(), "10s"),
      "How long opening a connection may take, TLS included.",
    ),
    tls: describe(v.optional(tls), "For https. The files are read for each connection."),
  }),
  v.forward(
    v.check(
      ({ tls: files, url: base, allowed_origins }) =>
        files === undefined || [base, ...allowed_origins].some((each) => /^https:/i.test(each)),
      "has no effect without an https URL",
    ),
    ["tls"],
  ),
  v.metadata({
    allOf: [
      conditional(
        { required: ["tls"] },
        {
          anyOf: [
            { properties: { url: matching(HTTPS) } },
            { required: ["allowed_origins"], properties: { allowed_origins: { contains: matching(HTTPS) } } },
          ],
        },
      ),
    ],
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { headers, api_key, bearer } = dataset.value;
    const seen = new Set([
      ...(api_key === undefined ? [] : ["x-api-key"]),
      ...(bearer === undefined ? [] : ["authorization"]),
    ]);
    for (const [name, value] of Object.entries(headers)) {
      const problem = headerProblem(name, seen);
      seen.add(name.toLowerCase());
      if (problem !== undefined) {
        addIssue({
          message: problem,
          path: [
            { type: "object", origin: "value", input: dataset.value, key: "headers", value: headers },
            { type: "object", origin: "value", input: headers, key: name, value },
          ],
        });
      }
    }
  }),
);

export type SenderOptions = v.InferOutput<typeof senderOptions>;

function headerProblem(name: string, seen: ReadonlySet<string>): string | undefined {
  const lower = name.toLowerCase();
  if (!isHeaderName(lower)) return "not a header name";
  if (lower.startsWith("x-bridge.")) return "names that begin with x-bridge. belong to the bridge";
  if (NOT_CONFIGURABLE.has(lower)) return "is set by the bridge for each request: remove it";
  return seen.has(lower) ? "is given twice, here or by api_key or bearer: keep one" : undefined;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(text) && URL.canParse(text);
}
