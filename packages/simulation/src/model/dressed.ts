import type { SourceMessage } from "@bridge/ports";
import { KIND } from "../plan/looks-at.ts";
import type { Dress } from "../plan/plan.ts";

/** What stands in headers that only the bridge may write. */
export const FORGED = "forged";
const HALF = "\ud83d";
const LONG = "l".repeat(65_537);

const DRESSES: Readonly<Record<Dress, () => object>> = {
  bare: () => ({}),
  headed: () => ({ headers: KIND, contentType: "text/plain", correlationId: "together" }),
  unnamed: () => ({ headers: KIND, dedupId: "" }),
  forged: () => ({ headers: { ...KIND, "X-Bridge.Dedup-Id": FORGED, "x-bridge.ordering-key": FORGED } }),
  doubled: () => ({ headers: { Kind: KIND.kind, "X-Two": "1", "x-two": "2" } }),
  half: () => ({ headers: KIND, subject: HALF, contentType: HALF, correlationId: HALF, dedupId: HALF }),
  "lost half": () => ({ headers: { ...KIND, [`torn-${HALF}`]: HALF } }),
  long: () => ({ headers: KIND, subject: LONG, contentType: LONG, correlationId: LONG }),
  "long names": () => ({ headers: KIND, dedupId: LONG, orderingKey: LONG }),
  "half names": () => ({ headers: KIND, orderingKey: HALF }),
  crowded: () => ({ headers: Object.fromEntries([...KINDS, ...CROWD]) }),
  heavy: () => ({ headers: { ...KIND, heavy: "h".repeat(65_536) } }),
  number: () => ({ headers: { ...KIND, count: 7 } }),
  list: () => ({ headers: [KIND.kind], subject: undefined }),
  never: () => ({ headers: KIND, expiresAt: Number.NaN, contentType: 7 }),
};
const KINDS = Object.entries(KIND);
const CROWD = Array.from({ length: 300 }, (_, nth) => [`h-${nth}`, ""] as const);
const SOUND: ReadonlySet<Dress | undefined> = new Set([undefined, "bare", "headed", "unnamed", "forged", "doubled"]);

/** What a message has besides its payload. */
export function dressed(dress: Dress = "bare"): Partial<SourceMessage> {
  return DRESSES[dress]();
}

/** Whether nothing can be sent that has it. */
export function isNoDress(dress: Dress | undefined): boolean {
  return !SOUND.has(dress);
}
