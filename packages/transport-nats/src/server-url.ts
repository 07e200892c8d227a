/** The address of a server, taken apart. */
export interface ServerUrl {
  readonly tls: boolean;
  /** Its name or IP address, without brackets: whom its certificate has to be for. */
  readonly host: string;
  /** As the client library takes it. */
  readonly server: string;
  /** The address as it may be shown. */
  readonly label: string;
}

const DEFAULT_PORT = 4222;

/** Why `text` is not the address of a server; never repeats it, since it may hold a password. */
export function serverUrlProblem(text: string): string | undefined {
  const parsed = parse(text);
  return typeof parsed === "string" ? parsed : undefined;
}

/** @throws Error when {@link serverUrlProblem} has something to say */
export function parseServerUrl(text: string): ServerUrl {
  const parsed = parse(text);
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
}

function parse(text: string): ServerUrl | string {
  if (!URL.canParse(text)) return 'not a server\'s address: write it as "nats://host:4222" or "tls://host:4222"';
  const { protocol, username, password, hostname, port, pathname, search, hash } = new URL(text);
  if (protocol !== "nats:" && protocol !== "tls:") return 'expected "nats://", or with TLS "tls://"';
  if (username !== "" || password !== "")
    return "a server's address holds no credentials: use username and password, token, nkey_seed or creds";
  if (hostname === "") return "a server's address needs a host";
  if ((pathname !== "" && pathname !== "/") || search !== "" || hash !== "")
    return "a server's address is a host and a port, and nothing behind it";
  const server = `${hostname}:${port === "" ? DEFAULT_PORT : port}`;
  return { tls: protocol === "tls:", host: hostname.replace(/^\[|\]$/g, ""), server, label: `${protocol}//${server}` };
}
