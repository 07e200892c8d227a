/** Where a server listens. Without a host: on every interface. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * Reads `:8080`, `127.0.0.1:8080`, `localhost:8080` or `[::1]:8080`; port 0 lets the system choose.
 * @throws Error when it is none of these
 */
export function parseListenAddress(addr: string): ListenAddress {
  const match = /^(?:\[([0-9a-f:.]+(?:%\w+)?)\]|([^:[\]\s]*)):(\d{1,5})$/i.exec(addr);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new Error(
      `the listen address ${JSON.stringify(addr)} is invalid: write ":8080", "host:8080" or "[::1]:8080"`,
    );
  const host = match[1] ?? match[2] ?? "";
  return { host: host === "" ? undefined : host, port };
}
