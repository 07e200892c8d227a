import type { Path } from "../problem.ts";
import type { Rule, RuleContext } from "./rule-context.ts";
import { exclusiveSessionsOf, shownId } from "./route-sessions.ts";

/** The part of a lease that renewals may take without a send having to wait for one. */
const COMFORTABLE = 3 / 4;

/**
 * A term is one percent shorter than its ttl and shorter by what its renewal takes: in what is left a send has to
 * begin.
 */
const MOST = 9 / 10;

/** A send over an exclusive session ends while its lease lasts, or another instance could send at the same time. */
export const leaseTimes: Rule = (context) => {
  for (const { place, sendTimeoutMs, leaseTtlMs, ttl, session } of timesOf(context)) {
    if (sendTimeoutMs <= leaseTtlMs * MOST) continue;
    context.report.problem(
      place,
      `is more than nine tenths of bridge.lease_ttl, which is ${ttl}: a send would outlast the lease of session ${session}, and so none would begin; lower send_timeout, or raise lease_ttl`,
    );
  }
};

/** Warns of sends that have to wait for each renewal. */
export const tightLeaseTimes: Rule = (context) => {
  for (const { place, sendTimeoutMs, leaseTtlMs, ttl } of timesOf(context)) {
    if (sendTimeoutMs <= leaseTtlMs * COMFORTABLE) continue;
    context.report.warning(
      place,
      `leaves less than a quarter of bridge.lease_ttl, which is ${ttl}: no send begins while a renewal is late; half of lease_ttl or less is comfortable`,
    );
  }
};

interface Times {
  readonly place: Path;
  readonly sendTimeoutMs: number;
  readonly leaseTtlMs: number;
  /** As messages may show them. */
  readonly ttl: string;
  readonly session: string;
}

/** The routes over exclusive sessions whose send_timeout is written. */
function timesOf(context: RuleContext): readonly Times[] {
  const leaseTtlMs = context.draft.bridge?.lease_ttl;
  if (leaseTtlMs === undefined) return [];
  return context.parts("routes").flatMap(({ part, path }) => {
    const sendTimeoutMs = part.policy?.send_timeout;
    const [session] = exclusiveSessionsOf(context, part);
    const place = [...path, "policy", "send_timeout"];
    if (sendTimeoutMs === undefined || session === undefined || !context.written(place)) return [];
    const ttl = context.hidden.show(["bridge", "lease_ttl"], seconds(leaseTtlMs));
    return [{ place, sendTimeoutMs, leaseTtlMs, ttl, session: shownId(context, session) }];
  });
}

function seconds(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}
