/** One broker of a session, taken apart. */
export interface BrokerUrl {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  /** The address as it may be shown. */
  readonly label: string;
}

const SCHEMES: Readonly<Record<string, { readonly tls: boolean; readonly port: number }>> = {
  "mqtt:": { tls: false, port: 1883 },
  "tcp:": { tls: false, port: 1883 },
  "mqtts:": { tls: true, port: 8883 },
  "ssl:": { tls: true, port: 8883 },
};

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
  if (!URL.canParse(text)) return 'not a broker address: write it as "mqtt://host:1883" or "mqtts://host:8883"';
  const url = new URL(text);
  const scheme = SCHEMES[url.protocol];
  if (scheme === undefined) return 'expected "mqtt://" or "tcp://", or with TLS "mqtts://" or "ssl://"';
  if (url.username !== "" || url.password !== "")
    return "a broker address holds no credentials: use username and password (in code the addresses may hold them: the same in each, percent-encoded)";
  if (url.hostname === "") return "a broker address needs a host";
  if ((url.pathname !== "" && url.pathname !== "/") || url.search !== "" || url.hash !== "") {
    return "a broker address has no path, query or fragment";
  }
  const port = url.port === "" ? scheme.port : Number(url.port);
  return {
    tls: scheme.tls,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port,
    label: `${scheme.tls ? "mqtts" : "mqtt"}://${url.hostname}:${port}`,
  };
}
