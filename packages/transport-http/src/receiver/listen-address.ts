import { isIPv4, isIPv6 } from "node:net";

/** Where a listener binds. */
export interface ListenAddress {
  /** As it is written in errors and logs, and what receivers that share a listener have in common. */
  readonly text: string;
  /** Absent: every interface. */
  readonly host: string | undefined;
  readonly port: number;
  /** Whether only programs on this machine can reach it. */
  readonly loopback: boolean;
}

const ADDRESS = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:[\]\s/]*)):(?<port>\d{1,5})$/;

/** Reads `host:port`, `[::1]:port` or `:port` (every interface); `undefined` when it is none of them. */
export function parseListenAddress(addr: string): ListenAddress | undefined {
  const { v6, name, port: digits } = ADDRESS.exec(addr)?.groups ?? {};
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (v6 !== undefined && !isIPv6(v6))) return undefined;
  const host = (v6 ?? name ?? "").toLowerCase();
  return {
    text: v6 === undefined ? `${host}:${port}` : `[${host}]:${port}`,
    host: host === "" ? undefined : host,
    port,
    loopback: host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127.")),
  };
}
