import { describe, secret } from "@bridge/ports/options";
import * as v from "valibot";
import { corsOrigins } from "./cors-origins.ts";
import { listenAddress } from "./listen-address.ts";

const MIN_KEY_LENGTH = 16;

/** What the ends of a header value cannot carry, or a header not at all. */
const UNSENDABLE = /^\s|\s$|\p{Cc}/u;

/** The same for a pattern that any dialect reads. */
const CONTROL = "\\u0000-\\u001f\\u007f-\\u009f";

function apiKey() {
  return v.pipe(
    secret(),
    v.metadata({
      pattern: `^(|[^\\s${CONTROL}][^${CONTROL}]{${MIN_KEY_LENGTH - 2},}[^\\s${CONTROL}])$`,
    }),
    v.check(
      (key) => key === "" || key.length >= MIN_KEY_LENGTH,
      `an API key has at least ${MIN_KEY_LENGTH} characters`,
    ),
    v.check(
      (key) => !UNSENDABLE.test(key),
      "an API key cannot be sent in a header with blanks at its ends, line breaks or other control characters: remove them",
    ),
  );
}

const path = () => v.optional(v.string("expected a string"), "");

/** The `http` block (spec 1.7). The servers listen as it says until the process ends. */
export const httpSchema = v.strictObject({
  admin_addr: describe(v.optional(listenAddress(), ":8080"), "Where the admin server listens."),
  monitor_addr: describe(v.optional(listenAddress(), ":8081"), "Where the monitor server listens."),
  admin_api_key: describe(
    v.optional(apiKey(), ""),
    "The key of the admin server, at least 16 characters. Empty: taken from BRIDGE_ADMIN_API_KEY.",
  ),
  monitor_api_key: describe(
    v.optional(apiKey(), ""),
    "The key of the monitor server, at least 16 characters. Empty: taken from BRIDGE_MONITOR_API_KEY. The admin key opens it too.",
  ),
  cors_origins: describe(
    v.optional(corsOrigins(), ""),
    "The origins whose web pages may call the servers, separated by commas. `*` is not allowed.",
  ),
  tls_cert_file: describe(path(), "The certificate chain of both servers, a PEM file. Needs tls_key_file."),
  tls_key_file: describe(path(), "The private key of the certificate, a PEM file. Needs tls_cert_file."),
});
