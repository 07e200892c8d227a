import { type ConnectionOptions, credsAuthenticator, nkeyAuthenticator } from "@nats-io/transport-node";
import type { SessionOptions } from "./options.ts";

/** Who the bridge is to a server, as the client library wants to be told. */
export function credentials(options: SessionOptions): Partial<ConnectionOptions> {
  const { username, password = "", token, nkey_seed: seed, creds } = options;
  if (username !== undefined) return { user: username, pass: password };
  if (token !== undefined) return { token };
  if (seed !== undefined) return { authenticator: nkeyAuthenticator(Buffer.from(seed.trim())) };
  if (creds !== undefined) return { authenticator: credsAuthenticator(Buffer.from(creds)) };
  return {};
}
