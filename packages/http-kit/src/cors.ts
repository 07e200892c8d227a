import type { Method } from "./endpoint.ts";

const ALLOWED_HEADERS = "Authorization, Content-Type, X-API-Key, X-Correlation-ID";
const EXPOSED_HEADERS = "Allow, Retry-After, WWW-Authenticate, X-Correlation-ID";
const MAX_AGE_SECONDS = "600";

/** Which other origins a browser may call from (spec 5.8). Without origins it does nothing. */
export interface Cors {
  /** The headers of the answer to a preflight request; `undefined` when the request is none. */
  preflight(request: Request): Readonly<Record<string, string>> | undefined;
  /** The headers that every other answer carries. */
  headers(request: Request): Readonly<Record<string, string>>;
}

/** @throws Error for the wildcard and for anything else that is not exactly an origin */
export function createCors(origins: readonly string[], methods: ReadonlySet<Method>): Cors {
  for (const origin of origins) checkOrigin(origin);
  if (origins.length === 0) return { preflight: () => undefined, headers: () => ({}) };
  const allowed = new Set(origins);
  const headers = (request: Request): Readonly<Record<string, string>> => {
    const origin = request.headers.get("origin");
    if (origin === null || !allowed.has(origin)) return { Vary: "Origin" };
    return { Vary: "Origin", "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED_HEADERS };
  };
  return {
    headers,
    preflight(request) {
      const isPreflight =
        request.method === "OPTIONS" &&
        request.headers.has("origin") &&
        request.headers.has("access-control-request-method");
      if (!isPreflight) return undefined;
      return {
        ...headers(request),
        "Access-Control-Allow-Methods": [...methods].join(", "),
        "Access-Control-Allow-Headers": ALLOWED_HEADERS,
        "Access-Control-Max-Age": MAX_AGE_SECONDS,
      };
    },
  };
}

function checkOrigin(origin: string): void {
  if (origin === "*") throw new Error('the CORS origin "*" is not allowed: list the origins that may call');
  if (!URL.canParse(origin) || new URL(origin).origin !== origin)
    throw new Error(
      `${JSON.stringify(origin)} is not a CORS origin: write scheme, host and port only, such as "https://ops.example.org"`,
    );
}
