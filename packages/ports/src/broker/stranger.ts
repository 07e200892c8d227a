import { BridgeError } from "../errors.ts";

/** What servers begin their answer with. */
const GREETINGS: readonly (readonly [begins: string, server: string])[] = [
  ["AMQP", "an AMQP server"],
  ["\u0001\0\0\0\0", "an AMQP server"],
  ["INFO {", "a NATS server"],
  ["HTTP/", "an HTTP server"],
  ["\u0015\u0003", "a server that expects TLS"],
  ["SSH-", "an SSH server"],
  ["-ERR ", "a Redis server"],
  ["220", "a mail or FTP server"],
];

/** How many bytes tell one server from another. */
export const GREETING_BYTES = 16;

/**
 * Why there can be no connection with what answers at the address that `label` shows: it does not speak `protocol`. `bytes` are
 * the first that it has said; they are not repeated, as nobody knows what they hold.
 */
export function strangerError(label: string, protocol: string, bytes: Uint8Array): BridgeError {
  const said = Buffer.from(bytes.subarray(0, GREETING_BYTES)).toString("latin1");
  const [, server = `something that does not speak ${protocol}`] =
    GREETINGS.find(([begins]) => said.startsWith(begins)) ?? [];
  const remedy =
    server === "a server that expects TLS"
      ? "does the address have to begin with a scheme of TLS?"
      : `is this the ${protocol} port?`;
  return new BridgeError("CONNECTION_LOST", `${server} answered at ${label}; ${remedy}`);
}
