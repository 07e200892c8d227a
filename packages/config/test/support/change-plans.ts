import type { BridgeConfig, ChangePlan } from "../../src/index.ts";

const NOTHING = { added: [], removed: [], restarted: [], kept: [] };

/** What a bridge answers that would have to touch none of its parts. */
export const TOUCHES_NOTHING: ChangePlan = {
  unchanged: false,
  routes: NOTHING,
  sessions: NOTHING,
  stores: [],
  inPlace: [],
  restartRequired: [],
};

/** The same of one that would begin all its routes again. */
export function beginsAgain({ routes }: BridgeConfig): ChangePlan {
  return { ...TOUCHES_NOTHING, routes: { ...NOTHING, restarted: routes.map(({ id }) => id) } };
}
