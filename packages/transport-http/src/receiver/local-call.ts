import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";

const ABSOLUTE = /^https?:\/\//i;

/**
 * Whether a request names this machine as what it is for, and a page of this machine as what it comes from, if it comes from
 * one. Any page that is open on the machine can send requests to loopback, and one whose name leads there (DNS rebinding)
 * can read the answers as well; what tells them apart is what their browser puts into `Host` and `Origin`.
 */
export function isLocalCall({ url = "", headers: { host, origin } }: IncomingMessage): boolean {
  const target = ABSOLUTE.test(url) ? url : undefined;
  return (
    (host === undefined || host === "" || isLocal(`http://${host}/`)) &&
    (target === undefined || isLocal(target)) &&
    (origin === undefined || isLocal(origin))
  );
}

function isLocal(url: string): boolean {
  const name = URL.parse(url)?.hostname ?? "";
  return name === "localhost" || name === "[::1]" || (isIPv4(name) && name.startsWith("127."));
}
