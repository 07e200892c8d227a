/** The header that a page of another origin cannot send, as CORS does not allow it. */
const OWN_HEADER = "x-bridge-console";

export interface OwnOrigins {
  /** Whether the browser speaks TLS, here or to what stands before us. */
  readonly isSecure: boolean;
  /** Origins of pages that are ours, beside that of `Host`. */
  readonly origins: ReadonlySet<string>;
}

/**
 * Whether a request with a session's cookie may be the work of another page. Browsers send the cookie for a page of another port of
 * the same host too, and `Sec-Fetch-Site` only to where they see a secure context, so that no sign is enough by itself.
 */
export function mayBeCrossSite(request: Request, own: OwnOrigins): boolean {
  const { headers } = request;
  const site = headers.get("sec-fetch-site");
  // `none`: somebody has typed the address.
  if (isLook(request)) return site !== null && site !== "same-origin" && site !== "none";
  if (site !== null && site !== "same-origin") return true;
  return headers.get(OWN_HEADER) !== "1" || !isOwnOrigin(request, own);
}

function isLook({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Host and port, whose default is that of the origin's own scheme; behind a proxy that nobody told us of that may be another than ours. */
function isOwnOrigin({ headers }: Request, { isSecure, origins }: OwnOrigins): boolean {
  const [origin, host] = [headers.get("origin"), headers.get("host")];
  if (origin === null || host === null) return false;
  if (origins.has(origin)) return true;
  const scheme = /^https?:\/\//.exec(origin)?.[0];
  if (scheme === undefined || (isSecure && scheme !== "https://") || /[/?#@\\\s]/.test(host)) return false;
  const ours = scheme + host;
  return URL.canParse(ours) && new URL(ours).origin === origin;
}
