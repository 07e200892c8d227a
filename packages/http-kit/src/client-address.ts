import { isIPv6 } from "node:net";
import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context } from "hono";

/** Stands for the peer of a request that did not come over a socket of `@hono/node-server`. */
const UNKNOWN_PEER = "unknown";

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** What an address, with or without a port or zone, is written with. */
const ADDRESS = /^[0-9a-z.:_%[\]-]{1,64}$/i;

/** The address at the other end of the connection, IPv4 in its own notation; {@link UNKNOWN_PEER} if nobody can tell. */
export function peerAddress(context: Context): string {
  let address: string | undefined;
  try {
    ({ address } = getConnInfo(context).remote);
  } catch {
    // Mounted on another carrier, or called without a socket.
  }
  return address === undefined ? UNKNOWN_PEER : (MAPPED_IPV4.exec(address)?.[1] ?? address);
}

/** Where the request says it came from: the leftmost hop of `X-Forwarded-For`, else the peer. For display only (spec 6). */
export function displayAddress(headers: Headers, peer: string): string {
  const hop = headers.get("x-forwarded-for")?.split(",", 1)[0]?.trim() ?? "";
  return ADDRESS.test(hop) ? hop : peer;
}

/** Who is counted as one client: an IPv4 address, or the /64 that one IPv6 host usually has to itself (contract §3). */
export function clientOf(peer: string): string {
  const [address = ""] = peer.split("%", 1);
  if (!isIPv6(address)) return peer;
  const [head = "", tail] = address.split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  // A dotted quad at the end stands for two groups; only its place matters here.
  const written = before.length + after.length + (address.includes(".") ? 1 : 0);
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - written }, () => "0");
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
