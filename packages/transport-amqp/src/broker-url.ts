import { isTooLong, MAX_SHORT_BYTES } from "./short-string.ts";

/** The address of a broker, taken apart. */
export interface BrokerUrl {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  /** The virtual host, percent-encoded as in the address; empty for the broker's default, `/`. */
  readonly vhost: string;
  /** The address as it may be shown. */
  readonly label: string;
}

const PORTS: Readonly<Record<string, number>> = { "amqp:": 5672, "amqps:": 5671 };

/** Why `text` is not the address of a broker; never repeats it, since it may hold a password. */
export function brokerUrlProblem(text: string): string | undefined {
  const parsed = parse(text);
  return typeof parsed === "string" ? parsed : undefined;
}

/** @throws Error when {@link brokerUrlProblem} has something to say */
export function parseBrokerUrl(text: string): BrokerUrl {
  const parsed = parse(text);
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
}

function parse(text: string): BrokerUrl | string {
  if (!URL.canParse(text))
    return 'not a broker address: write it as "amqp://host:5672/vhost" or "amqps://host:5671/vhost"';
  const url = new URL(text);
  const standard = PORTS[url.protocol];
  if (standard === undefined) return 'expected "amqp://", or with TLS "amqps://"';
  if (url.username !== "" || url.password !== "")
    return "a broker address holds no credentials: use username and password (in code the addresses may hold them: the same in each, percent-encoded)";
  if (url.hostname === "") return "a broker address needs a host";
  if (url.search !== "" || url.hash !== "") return "a broker address has no query or fragment: use the options";
  const vhost = url.pathname.slice(1);
  if (vhost.includes("/")) return 'a "/" in the name of a virtual host is written as %2F';
  if (!isDecodable(vhost)) return "the virtual host is not percent-encoded as it should be";
  if (isTooLong(decodeURIComponent(vhost))) return `the name of a virtual host has at most ${MAX_SHORT_BYTES} bytes`;
  const port = url.port === "" ? standard : Number(url.port);
  return {
    tls: url.protocol === "amqps:",
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port,
    vhost,
    label: `${url.protocol}//${url.hostname}:${port}${vhost === "" ? "" : `/${vhost}`}`,
  };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
