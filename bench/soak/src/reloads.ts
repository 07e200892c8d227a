import { setTimeout as sleep } from "node:timers/promises";
import { revisionOf } from "./bridge/revision.ts";
import type { Side } from "./scene.ts";
import type { Timeline } from "./timeline.ts";

const EVERY_MS = 60_000;
/** The bridges take turns. */
const FIRST_MS = { a: 15_000, b: 45_000 } as const;
const TAKEN_WITHIN_MS = 45_000;
const LOOK_EVERY_MS = 250;

export interface Reload {
  readonly at: number;
  readonly side: Side["name"];
  readonly what: string;
  /** Until the bridge said that it runs it; absent when it did not in time. */
  readonly ms: number | undefined;
}

/** Changes a number of the configuration each minute, of a route or a session, until `signal` aborts. */
export async function keepReloading(side: Side, timeline: Timeline, signal: AbortSignal): Promise<readonly Reload[]> {
  const reloads: Reload[] = [];
  const rest = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});
  const { name, api } = side;
  let { document } = side;
  const taken = async (version: number): Promise<number | undefined> => {
    const began = performance.now();
    for (let ms = 0; ms < TAKEN_WITHIN_MS; ms = performance.now() - began) {
      if ((await api.configVersion()) === version) return Math.round(ms);
      await sleep(LOOK_EVERY_MS);
    }
    return undefined;
  };
  await rest(FIRST_MS[name]);
  for (let version = 1; !signal.aborted; version++) {
    const revision = revisionOf(document, version);
    document = revision.document;
    const at = Date.now();
    const ms = await timeline.during(`reload of a ${version % 2 === 1 ? "route" : "session"} of ${name}`, async () => {
      await side.configure({ ...document, config_version: version });
      return taken(version);
    });
    reloads.push({ at, side: name, what: revision.what, ms });
    await rest(at + EVERY_MS - Date.now());
  }
  return reloads;
}
