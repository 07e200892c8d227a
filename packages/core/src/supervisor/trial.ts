import type { Trial } from "@bridge/config";
import type { HistogramStats } from "../accounting/histogram.ts";
import { type BridgeView, READINESS_LEVELS } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";

interface Facts {
  readonly view: () => BridgeView;
  readonly stats: () => BridgeStats;
}

/** How a change gets on that is tried out. */
export function trialOf({ view, stats }: Facts): Trial {
  return {
    running: () => view().state === "running",
    reaches: (level) => {
      const wanted = READINESS_LEVELS.findIndex((known) => known === level);
      return READINESS_LEVELS.indexOf(view().level) >= wanted;
    },
    sends: (routeIds) => {
      const routes = new Set(routeIds);
      let [sends, failed] = [0, 0];
      for (const leg of stats().legs) {
        if (!routes.has(leg.routeId)) continue;
        const failures = countOf(leg.sends.failed);
        sends += countOf(leg.sends.accepted) + failures;
        failed += failures;
      }
      return { sends, failed };
    },
  };
}

function countOf({ counts }: HistogramStats): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
