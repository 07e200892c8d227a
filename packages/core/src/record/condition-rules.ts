import { BRIDGE_RULES } from "./bridge-rules.ts";
import type { ConditionRule } from "./condition-facts.ts";
import { SUPPORT_RULES } from "./support-rules.ts";
import { TRAFFIC_RULES } from "./traffic-rules.ts";

/** The alerts of `deploy/observability/bridge.rules.yml` that a single process can judge by itself. */
export const CONDITION_RULES: readonly ConditionRule[] = [...BRIDGE_RULES, ...TRAFFIC_RULES, ...SUPPORT_RULES];
