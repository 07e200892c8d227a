import type { Clock } from "@bridge/ports";
import type { ConditionFacts, ConditionRule, Met, Severity } from "./condition-facts.ts";
import { CONDITION_RULES } from "./condition-rules.ts";

/** How many ended conditions are kept. */
const KEPT_PAST = 200;
/** The most conditions that hold at once; a bridge with thousands of routes may have one per route. */
const MAX_HOLDING = 1_000;

/** A problem that has lasted long enough. Times are epoch milliseconds. */
export interface Condition extends Met {
  readonly code: string;
  readonly severity: Severity;
  /** When the rule began to be met. */
  readonly since: number;
  /** The manual's page about it. */
  readonly runbook: string;
  /** When it ended; absent while it holds. */
  readonly until?: number;
}

interface Holding {
  readonly rule: ConditionRule;
  /** Epoch and monotonic milliseconds. */
  readonly since: number;
  readonly from: number;
  met: Met;
  holds: boolean;
}

/** Checks which rules are met, and since when. */
export class Conditions {
  readonly #clock: Clock;
  readonly #rules: readonly ConditionRule[];
  #met = new Map<string, Holding>();
  #past: readonly Condition[] = [];
  /** Grows with each condition that begins or ends. */
  changes = 0;

  constructor(clock: Clock, rules: readonly ConditionRule[] = CONDITION_RULES) {
    this.#clock = clock;
    this.#rules = rules;
  }

  /** The conditions that hold, gravest first, then oldest first. */
  get current(): readonly Condition[] {
    return [...this.#met.values()]
      .filter(({ holds }) => holds)
      .map(conditionOf)
      .toSorted((a, b) => GRAVITY[a.severity] - GRAVITY[b.severity] || a.since - b.since);
  }

  /** The last ended conditions, newest first. */
  get past(): readonly Condition[] {
    return this.#past;
  }

  look(facts: ConditionFacts): void {
    const [now, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    const met = new Map<string, Holding>();
    for (const rule of this.#rules)
      for (const one of rule.met(facts)) {
        if (met.size >= MAX_HOLDING) break;
        const key = JSON.stringify([rule.code, one.routeId, one.bindingId, one.sessionId, placeless(one)]);
        const holding = this.#met.get(key) ?? { rule, since: now, from: monotonic, met: one, holds: false };
        holding.met = one;
        if (!holding.holds && monotonic - holding.from >= rule.forMs) {
          holding.holds = true;
          this.changes++;
        }
        met.set(key, holding);
      }
    const ended = [...this.#met].filter(([key, { holds }]) => holds && !met.has(key));
    if (ended.length > 0) {
      this.#past = [...ended.map(([, one]) => ({ ...conditionOf(one), until: now })), ...this.#past].slice(
        0,
        KEPT_PAST,
      );
      this.changes++;
    }
    this.#met = met;
  }
}

const GRAVITY: Readonly<Record<Severity, number>> = { critical: 0, warning: 1, info: 2 };

/**
 * Tells apart the conditions of a rule that is met several times without a place: the words up to the first number or
 * reason.
 */
function placeless({ what, routeId, sessionId }: Met): string | undefined {
  return routeId === undefined && sessionId === undefined ? (/^[^\d:]*/.exec(what)?.[0] ?? "") : undefined;
}

function conditionOf({ rule, since, met }: Holding): Condition {
  return { code: rule.code, severity: rule.severity, since, ...met, runbook: rule.runbook };
}
