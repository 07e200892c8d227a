import type { ShownUse } from "../../src/tap/tap-share.ts";

/** What showing something has cost, on a machine that lets it wait so many times as long as it works. */
export function cost(usedMs: number, slowness = 1): ShownUse {
  return { usedMs, tookMs: usedMs * slowness };
}
