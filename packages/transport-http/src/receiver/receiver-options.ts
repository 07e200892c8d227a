import {
  apiKey,
  conditional,
  describe,
  integer,
  matching,
  pemFile,
  PORT,
  positiveDuration,
} from "@bridge/ports/options";
import * as v from "valibot";
import { parseListenAddress } from "./listen-address.ts";

const addr = v.pipe(
  v.string("expected a string"),
  v.metadata({ pattern: `^(?:\\[[^\\]]+\\]|[^:[\\]\\s/]*):${PORT}$` }),
  v.check(
    (text) => parseListenAddress(text) !== undefined,
    'not an address to listen on: write host:port, such as "127.0.0.1:8082", "[::1]:8082" or ":8082"',
  ),
);

const path = v.pipe(
  v.string("expected a string"),
  v.regex(
    /^(?!.*\/\.{1,2}(?:\/|$))\/(?:[^/?#\\\s]+(?:\/[^/?#\\\s]+)*)?$/,
    "not a path: write one that begins with /, without a query, a fragment, a trailing /, and segments that are empty, . or ..",
  ),
);

const tls = v.strictObject({
  cert_file: describe(pemFile("certificate"), "PEM file of the certificate and its intermediate certificates."),
  key_file: describe(pemFile("key", "cert_file"), "PEM file of its private key, without a passphrase."),
  client_ca_file: describe(
    v.optional(pemFile("authorities")),
    "PEM file of certificate authorities: only callers with a certificate of one of them are let in.",
  ),
});

/** Options of an `http` receiver (contract §8). */
export const receiverOptions = v.pipe(
  v.strictObject({
    addr: describe(
      v.optional(addr, "127.0.0.1:8082"),
      "Where to listen: host:port, or :port for every interface. Receivers with the same address share a listener.",
    ),
    path: describe(
      v.optional(path),
      "The path that takes messages; what follows it is the subject. Default: /ingest/<receiver id>.",
    ),
    api_key: describe(
      v.optional(apiKey()),
      "Callers send it as X-API-Key or as Authorization: Bearer. At least 16 characters.",
    ),
    allow_anonymous: describe(
      v.optional(v.boolean("expected true or false"), false),
      "Without api_key and tls.client_ca_file: takes messages at an address beyond loopback, from anybody who can reach it, and on loopback whatever Host and Origin a request has.",
    ),
    max_body: describe(
      v.optional(integer(1, 2 ** 30), 2 ** 20),
      "The longest body, in bytes. A longer one is answered 413.",
    ),
    response_timeout: describe(
      v.optional(positiveDuration(), "30s"),
      "How long a caller waits for its message to be settled. After that the delivery is cancelled and answered 503.",
    ),
    tls: describe(
      v.optional(tls),
      "Switches the listener to TLS, 1.2 and above. The files are read again when they change. Must be the same for all receivers of one address.",
    ),
  }),
  v.forward(
    v.check(
      (options) =>
        options.api_key !== undefined ||
        options.tls?.client_ca_file !== undefined ||
        options.allow_anonymous ||
        parseListenAddress(options.addr)?.loopback !== false,
      "this address can be reached from other machines: set api_key, tls.client_ca_file, or allow_anonymous: true to take messages from anybody",
    ),
    ["addr"],
  ),
  v.metadata({
    allOf: [
      conditional(
        {
          required: ["addr"],
          not: {
            anyOf: [
              { required: ["api_key"] },
              { required: ["tls"], properties: { tls: { required: ["client_ca_file"] } } },
              { required: ["allow_anonymous"] },
            ],
          },
        },
        { properties: { addr: matching(`^(?:[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|127\\..*|\\[::1\\]):${PORT}$`) } },
      ),
    ],
  }),
);
