/** What a listening address, `[host]:port`, says. */
export interface HostAndPort {
  /** In small letters, without brackets; empty: every interface. */
  readonly host: string;
  readonly port: number;
}

/** Whether two listening addresses cannot be had both at once. */
export function meet(a: HostAndPort, b: HostAndPort): boolean {
  return a.port === b.port && a.port !== 0 && overlap(a.host, b.host);
}

/** Whether two are written alike, but for their letter case and brackets. */
export function sameAddress(a: HostAndPort, b: HostAndPort): boolean {
  return a.host === b.host && a.port === b.port;
}

export function hostAndPort(addr: string): HostAndPort {
  const colon = addr.lastIndexOf(":");
  return {
    host: addr
      .slice(0, colon)
      .replace(/^\[|\]$/g, "")
      .toLowerCase(),
    port: Number(addr.slice(colon + 1)),
  };
}

function overlap(a: string, b: string): boolean {
  if (EVERY.has(a) || EVERY.has(b)) return true;
  if (a === EVERY_V4 || b === EVERY_V4) return !a.includes(":") && !b.includes(":");
  return (NAMED.get(a) ?? [a]).some((host) => (NAMED.get(b) ?? [b]).includes(host));
}

const EVERY: ReadonlySet<string> = new Set(["", "::"]);
const EVERY_V4 = "0.0.0.0";
const NAMED: ReadonlyMap<string, readonly string[]> = new Map([["localhost", ["127.0.0.1", "::1"]]]);
