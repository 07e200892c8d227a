/** What a URL says of a server of PostgreSQL; what it leaves out is for the environment to say. */
export interface ServerUrl {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
  /** Absent: it does not say. */
  readonly tls?: boolean;
}

const PROTOCOLS: ReadonlySet<string> = new Set(["postgresql:", "postgres:"]);
/** Whoever asks for TLS gets a server that proves who it is: `require` is not weaker here. */
const TLS: Readonly<Record<string, boolean>> = {
  disable: false,
  require: true,
  "verify-ca": true,
  "verify-full": true,
};

/** Of a list of servers, as other clients take it. */
export const ONE_SERVER =
  "names several servers, and the bridge connects to one: use an address that follows the primary, such as a service name, a virtual address or a proxy";

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

/** A comma between its user and its database. */
const SEVERAL = /^\s*\w+:\/\/(?:[^/?#]*@)?(?![^/?#]*@)[^/?#]*,/;

function parse(text: string): ServerUrl | string {
  if (SEVERAL.test(text)) return ONE_SERVER;
  const url = URL.parse(text);
  if (url === null || !PROTOCOLS.has(url.protocol)) {
    return 'not the address of a server: write it as "postgresql://user@host:5432/database"; what a URL must not hold is percent-encoded';
  }
  const { sslmode, ...others } = Object.fromEntries(url.searchParams);
  const [other] = Object.keys(others);
  if (other !== undefined || url.hash !== "") return "only sslmode may follow the database: use the options";
  if (sslmode !== undefined && !(sslmode in TLS)) return `sslmode is one of ${Object.keys(TLS).join(", ")}`;
  try {
    const [host, database] = [url.hostname.replace(/^\[|\]$/g, ""), url.pathname.slice(1)].map(decodeURIComponent);
    const [user, password] = [url.username, url.password].map(decodeURIComponent);
    return {
      ...(host && { host }),
      ...(url.port && { port: Number(url.port) }),
      ...(database && { database }),
      ...(user && { user }),
      ...(password && { password }),
      ...(sslmode !== undefined && { tls: TLS[sslmode] ?? true }),
    };
  } catch {
    return "a part of it is not percent-encoded as it should be";
  }
}
