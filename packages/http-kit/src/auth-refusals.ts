/**
 * Why a caller was turned away.
 *
 * - `key`: no key, a wrong one, or a session that is over.
 * - `permission`: the key opens less than that.
 * - `csrf`: another page may have sent the request.
 * - `throttled`: too many failures of this client.
 */
const REFUSALS = ["key", "permission", "csrf", "throttled"] as const;
export type AuthRefusal = (typeof REFUSALS)[number];

/** Counts callers that were turned away. */
export class AuthRefusals {
  readonly #counts = new Map<AuthRefusal, number>(REFUSALS.map((why) => [why, 0]));

  add(why: AuthRefusal): void {
    this.#counts.set(why, (this.#counts.get(why) ?? 0) + 1);
  }

  counts(): readonly { readonly why: AuthRefusal; readonly count: number }[] {
    return [...this.#counts].map(([why, count]) => ({ why, count }));
  }
}
