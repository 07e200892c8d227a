import type { RouteRunner } from "./route-runner.ts";
import type { RuntimeParts } from "./runtime-parts.ts";

/**
 * Makes sources redeliver what routes abandoned, for receivers still among `parts`: a source without a session when it
 * is asked again, one with a session over a new connection.
 */
export function handBack(runners: readonly RouteRunner[], parts: RuntimeParts): void {
  const [links, intakes] = [new Set(parts.links.values()), new Set(parts.intakes.values())];
  for (const { parts: own } of runners) {
    if (!intakes.has(own.intake)) continue;
    own.intake.restart();
    if (own.sourceLink !== undefined && links.has(own.sourceLink)) own.sourceLink.cut?.();
  }
}
