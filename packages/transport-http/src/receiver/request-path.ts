import type { IncomingMessage } from "node:http";
import type { Malformed } from "./message-head.ts";

/** Nearly every host that is sent. Of others a URL parser is asked, which costs more than all else here. */
const PLAIN_HOST = /^[a-z\d._-]+(?::(?:\d{1,4}|[1-5]\d{4}))?$/;
const ABSOLUTE = /^https?:\/\//;
const NO_URL: Malformed = { malformed: "the request target is no URL" };

/**
 * The path of a request's target, as it was sent; that of an absolute one too, which makes `Host` meaningless (RFC 9112
 * §3.2.2). Every reader behind this one is to see the same path in it, so what some of them read as something else is
 * no target.
 */
export function requestPath({ url = "", headers }: IncomingMessage): string | Malformed {
  if (ABSOLUTE.test(url)) return absolutePath(url);
  // Requests of HTTP/1.0 need none.
  if (headers.host && !isHost(headers.host)) return { malformed: "the Host header is no host" };
  if (!url.startsWith("/")) return NO_URL;
  const path = beforeQuery(url);
  return path.includes("\\") ? NO_URL : path;
}

function absolutePath(target: string): string | Malformed {
  const path = beforeQuery(target).includes("\\") ? undefined : URL.parse(target)?.pathname;
  return path ?? NO_URL;
}

function isHost(host: string): boolean {
  if (PLAIN_HOST.test(host)) return true;
  const url = URL.parse(`http://${host}/`);
  return url !== null && url.hostname === host.replace(/:\d+$/, "").toLowerCase();
}

function beforeQuery(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}
