import { createHash, createHmac } from "node:crypto";
import type { Clock, Random } from "@bridge/ports";
import { callerOf, type KeyHolder } from "../keyring.ts";
import type { Caller } from "../own-authentication.ts";
import { mayBeCrossSite } from "./cross-site.ts";
import { LastTexts } from "./last-texts.ts";
import { type CookiePlace, presentedCookie, setCookie } from "./session-cookie.ts";
import {
  isSignedBy,
  type PresentedToken,
  readToken,
  type SessionToken,
  type Sign,
  writeToken,
} from "./session-token.ts";

export interface SessionOptions {
  /** Names the cookie. `undefined`: there is no bridge yet, and no session. */
  readonly bridgeId: () => string | undefined;
  /** How long a session lives without a request. Default one hour; never more than `maxMs`. */
  readonly idleMs?: number | undefined;
  /** How long a session lives at most. Default 12 hours. */
  readonly maxMs?: number | undefined;
  /** `X-Forwarded-Proto` says whether the browser speaks TLS. Default: false, it is taken for what anybody could have written. */
  readonly trustForwardedProto?: boolean | undefined;
}

export interface SessionSeams {
  /** A key by its name. */
  readonly holder: (name: string) => KeyHolder | undefined;
  /** Pages of these origins may act with a session, beside those that the server's own host has. */
  readonly origins: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

/** Why a session that was good once is not any more: its key is none, or its time is over. */
export type SessionEnd = "key" | "expired";

/** A request that a session lets in. */
export interface OpenSession {
  readonly caller: Caller;
  /** When the session ends at the latest, in wall-clock milliseconds. */
  readonly endsAt: number;
  /** Another page may have sent the request. */
  readonly mayBeCrossSite: boolean;
  /** A `Set-Cookie` for the answer, when it is time for one. */
  readonly renewed: string | undefined;
  readonly again: () => Caller | SessionEnd;
}

const DEFAULTS = { idleMs: 3_600_000, maxMs: 12 * 3_600_000 };
/** An older token is replaced with the next answer. */
const RENEWED_AFTER_MS = 5 * 60_000;
/** How far clocks of instances may be apart. */
const SKEW_MS = 60_000;
/** Sessions that were ended, and tokens that came too late: the last of them are remembered. */
const REMEMBERED = 10_000;
/** For a name that no key has. */
const NOBODYS: Sign = (text) => createHmac("sha256", "nobody").update(text).digest("base64url");

/**
 * Sessions of browsers: a cookie in place of a key that a page would have to keep. A token says by itself which key it was begun with
 * and when, signed with what only holders of the key can make; so nothing is stored, any instance with the key takes it, and it ends
 * with the key. Only what was ended before its time is remembered.
 */
export class Sessions {
  readonly #options: SessionOptions & { readonly idleMs: number; readonly maxMs: number };
  readonly #seams: SessionSeams;
  readonly #origins: ReadonlySet<string>;
  readonly #ended = new LastTexts(REMEMBERED);
  /** Signatures: what was refused once as too late stays refused, though the clock be set back. */
  readonly #late = new LastTexts(REMEMBERED);
  #begun = 0;

  /** @throws RangeError when a time is none */
  constructor(options: SessionOptions, seams: SessionSeams) {
    const { idleMs = DEFAULTS.idleMs, maxMs = DEFAULTS.maxMs } = options;
    for (const [name, ms] of Object.entries({ idleMs, maxMs }))
      if (!(ms > 0 && Number.isFinite(ms)))
        throw new RangeError(`sessions.${name} is ${String(ms)}: give it a number of milliseconds above 0`);
    this.#options = { ...options, idleMs: Math.min(idleMs, maxMs), maxMs };
    this.#seams = seams;
    this.#origins = new Set(seams.origins);
  }

  /** How many have begun here. */
  get begun(): number {
    return this.#begun;
  }

  /**
   * The session whose cookie a request has. `"over"`: it was one, so this is no guess of somebody who has none. `undefined`: there is
   * no cookie, or one that we have not made.
   */
  of(request: Request): OpenSession | "over" | undefined {
    const place = this.#place(request);
    const token = place && this.#authentic(request, place);
    if (place === undefined || token === undefined) return undefined;
    const again = (): Caller | SessionEnd => this.#callerOf(token, place);
    const caller = again();
    if (typeof caller === "string") return "over";
    return {
      caller,
      again,
      endsAt: token.began + this.#options.maxMs,
      mayBeCrossSite: mayBeCrossSite(request, { isSecure: place.isSecure, origins: this.#origins }),
      renewed: this.#isOld(token) ? this.#cookie(place, { ...token, issued: this.#seams.clock.now() }) : undefined,
    };
  }

  /** Begins one for whoever has shown the key of this name; `undefined` when there is no bridge or no such key. */
  begin(keyName: string, request: Request): { readonly endsAt: number; readonly cookie: string } | undefined {
    const place = this.#place(request);
    const now = this.#seams.clock.now();
    // Whatever an id looks like that a program makes, a cookie can hold it so.
    const id = createHash("sha256").update(this.#seams.random.id()).digest("base64url");
    const cookie = place && this.#cookie(place, { keyName, began: now, issued: now, id });
    if (cookie === undefined) return undefined;
    this.#begun++;
    return { endsAt: now + this.#options.maxMs, cookie };
  }

  /** Ends the session whose cookie a request has, if it has one. Answers with the `Set-Cookie` that takes the cookie away. */
  end(request: Request): string | undefined {
    const place = this.#place(request);
    if (place === undefined) return undefined;
    const token = this.#authentic(request, place);
    if (token !== undefined) this.#ended.add(token.id);
    return setCookie(place, "", 0);
  }

  #place(request: Request): CookiePlace | undefined {
    const bridgeId = this.#options.bridgeId();
    return bridgeId === undefined ? undefined : { bridgeId, isSecure: this.#isSecure(request) };
  }

  #isSecure({ headers, url }: Request): boolean {
    const forwarded = headers.get("x-forwarded-proto")?.split(",", 1)[0]?.trim().toLowerCase();
    if (this.#options.trustForwardedProto === true && forwarded !== undefined) return forwarded === "https";
    return url.startsWith("https:");
  }

  /** The token of the cookie, if we, or another instance with the same key, have made it. */
  #authentic({ headers }: Request, place: CookiePlace): PresentedToken | undefined {
    const token = readToken(presentedCookie(headers, place) ?? "");
    if (token === undefined) return undefined;
    const holder = this.#seams.holder(token.keyName);
    // Without the key, the work of one: how long it takes tells nobody which names there are.
    return isSignedBy(token, signAt(place, holder?.sign ?? NOBODYS)) && holder !== undefined ? token : undefined;
  }

  #callerOf(token: PresentedToken, place: CookiePlace): Caller | SessionEnd {
    const holder = this.#seams.holder(token.keyName);
    if (holder === undefined || !isSignedBy(token, signAt(place, holder.sign))) return "key";
    if (this.#ended.has(token.id) || this.#late.has(token.signature)) return "expired";
    const { idleMs, maxMs } = this.#options;
    const now = this.#seams.clock.now();
    if (token.issued > now + SKEW_MS) return "expired";
    if (now - token.issued < idleMs && now - token.began < maxMs) return callerOf(holder.caller);
    this.#late.add(token.signature);
    return "expired";
  }

  #isOld({ issued }: SessionToken): boolean {
    return this.#seams.clock.now() - issued > Math.min(RENEWED_AFTER_MS, this.#options.idleMs / 2);
  }

  #cookie(place: CookiePlace, token: SessionToken): string | undefined {
    const holder = this.#seams.holder(token.keyName);
    if (holder === undefined) return undefined;
    const left = token.began + this.#options.maxMs - token.issued;
    return setCookie(place, writeToken(token, signAt(place, holder.sign)), Math.min(this.#options.idleMs, left));
  }
}

/** Another bridge that has the same key takes no session of this one, whatever the name of the cookie. */
function signAt({ bridgeId }: CookiePlace, sign: Sign): Sign {
  return (text) => sign(`${JSON.stringify(bridgeId)} ${text}`);
}
