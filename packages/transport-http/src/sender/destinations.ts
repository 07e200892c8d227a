import { unresolved } from "./unresolved.ts";

/** Where one request goes. */
export interface Destination {
  readonly origin: string;
  /** Path and query, encoded. */
  readonly path: string;
}

/** Addresses are remembered with what they lead to: a binding without placeholders has one for all of its messages. */
const GENERATION_SIZE = 500;
const LONGEST_REMEMBERED = 512;

/** What the URL parser would remove or read as something else. */
const FORBIDDEN = /[^!-~\u00a1-\u{10ffff}]|[\\#]/u;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const ABSOLUTE = /^https?:\/\/[^/?]/i;
/** Between two slashes of a path, plain or encoded: servers differ in whether they decode before they route. */
const SEPARATOR = /\/|%2f|%5c/i;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** Reads addresses: a path below the sender's URL, or an absolute URL of an allowed origin (contract §8). */
export class Destinations {
  readonly #base: Destination;
  readonly #basePath: string;
  readonly #baseQuery: string;
  readonly #origins: ReadonlySet<string>;
  /** Two generations: what is in use outlives any number of addresses that are used once. */
  #recent = new Map<string, Destination>();
  #older: ReadonlyMap<string, Destination> = new Map();

  constructor(url: string, allowedOrigins: readonly string[]) {
    const base = new URL(url);
    this.#base = { origin: base.origin, path: base.pathname + base.search };
    this.#basePath = base.pathname.replace(/\/$/, "");
    this.#baseQuery = base.search.slice(1);
    this.#origins = new Set([base.origin, ...allowedOrigins.map((origin) => new URL(origin).origin)]);
  }

  /** @throws BridgeError `BINDING_UNRESOLVED` for an address that leads anywhere else */
  resolve(address: string): Destination {
    if (address === "") return this.#base;
    const known = this.#recent.get(address);
    if (known !== undefined) return known;
    const destination = this.#older.get(address) ?? this.#parse(address);
    if (address.length <= LONGEST_REMEMBERED) this.#remember(address, destination);
    return destination;
  }

  #parse(address: string): Destination {
    if (FORBIDDEN.test(address)) {
      throw unresolved("the address holds a space, a control character, a backslash or a fragment");
    }
    const query = address.indexOf("?");
    const [before, after] = query === -1 ? [address, ""] : [address.slice(0, query), address.slice(query + 1)];
    if (before.split(SEPARATOR).some((segment) => DOT_SEGMENT.test(segment))) {
      throw unresolved("the address has a . or .. segment");
    }
    return SCHEME.test(address) ? this.#absolute(address) : this.#below(before, after);
  }

  #absolute(address: string): Destination {
    const url = ABSOLUTE.test(address) ? URL.parse(address) : null;
    if (url === null) throw unresolved("the address is neither a path nor an http or https URL");
    if (url.username !== "" || url.password !== "") throw unresolved("the address has a user part");
    if (!this.#origins.has(url.origin)) {
      throw unresolved("the origin of the address is neither that of url nor in allowed_origins");
    }
    return { origin: url.origin, path: url.pathname + url.search };
  }

  #below(path: string, query: string): Destination {
    if (path.startsWith("//")) throw unresolved("the address begins with //: write a path or an absolute URL");
    const { origin } = this.#base;
    const below = path === "" || path.startsWith("/") ? path : `/${path}`;
    const queries = [this.#baseQuery, query].filter((part) => part !== "").join("&");
    const url = URL.parse(`${origin}${this.#basePath}${below}${queries === "" ? "" : `?${queries}`}`);
    // By construction it is; were that ever wrong, nothing must be sent.
    if (url?.origin !== origin || !`${url.pathname}/`.startsWith(`${this.#basePath}/`)) {
      throw unresolved("the address does not lead below url");
    }
    return { origin, path: url.pathname + url.search };
  }

  #remember(address: string, destination: Destination): void {
    if (this.#recent.size >= GENERATION_SIZE) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(address, destination);
  }
}
