import { apiKey, conditional, describe, pemFile } from "@bridge/ports/options";
import * as v from "valibot";
import { apiKeySchema } from "./api-keys.ts";
import { browserSessions } from "./browser-sessions.ts";
import { corsOrigins } from "./cors-origins.ts";
import { listenAddress } from "./listen-address.ts";

/** The `http` block (spec 1.7). But for `api_keys`, the servers do as it says until the process ends. */
export const httpSchema = v.pipe(
  v.strictObject({
    admin_addr: describe(v.optional(listenAddress(), ":8080"), "Where the admin server listens."),
    monitor_addr: describe(v.optional(listenAddress(), ":8081"), "Where the monitor server listens."),
    admin_api_key: describe(
      v.optional(apiKey({ mayBeEmpty: true }), ""),
      "The key of the admin server, at least 16 characters. Empty: taken from BRIDGE_ADMIN_API_KEY.",
    ),
    monitor_api_key: describe(
      v.optional(apiKey({ mayBeEmpty: true }), ""),
      "The key of the monitor server, at least 16 characters. Empty: taken from BRIDGE_MONITOR_API_KEY. The admin key opens it too.",
    ),
    api_keys: describe(
      v.optional(v.array(apiKeySchema), []),
      "Named keys that open a part of both servers. A change of this list applies at once.",
    ),
    cors_origins: describe(
      v.optional(corsOrigins(), ""),
      "The origins whose web pages may call the servers, separated by commas. `*` is not allowed.",
    ),
    ...browserSessions,
    redact: describe(
      v.optional(
        v.strictObject({
          headers: describe(
            v.optional(v.array(redactedName()), [
              "authorization",
              "cookie",
              "set-cookie",
              "x-api-key",
              "proxy-authorization",
            ]),
            "Headers of messages whose values are hidden. Names are not case-sensitive.",
          ),
          fields: describe(
            v.optional(v.array(redactedName()), []),
            "Fields of JSON payloads whose values are hidden, at any depth, but not inside a string that itself holds JSON. If there are any, a payload that is not JSON, has more than 64 levels or is larger than 1 MiB is shown as its size and digest only.",
          ),
        }),
      ),
      "What is hidden in dead letters from callers with `payload.read` but without `payload.raw`. Without this block: the headers below.",
    ),
    tls_cert_file: describe(
      v.optional(pemFile("certificate", undefined, { mayBeEmpty: true }), ""),
      "The certificate chain of both servers, a PEM file. Needs tls_key_file.",
    ),
    tls_key_file: describe(
      v.optional(pemFile("key", "tls_cert_file", { mayBeEmpty: true }), ""),
      "The private key of the certificate, a PEM file. Needs tls_cert_file.",
    ),
  }),
  v.metadata({
    allOf: [
      conditional(given("tls_cert_file"), given("tls_key_file")),
      conditional(given("tls_key_file"), given("tls_cert_file")),
    ],
  }),
);

function redactedName() {
  return v.pipe(v.string("expected a string"), v.nonEmpty("must not be empty"));
}

/** In JSON Schema; a rule says it with the place. */
function given(key: string) {
  return { required: [key], properties: { [key]: { minLength: 1 } } };
}
