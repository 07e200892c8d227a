import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** A call is given up after this. */
const PATIENCE_MS = 10_000;

/** Somebody keeps one in so many dead letters back from redrives; what is returned lets them go again, at whichever instance is there then. */
export function quarantine(at: () => Instance | undefined, world: World, oneIn: number): () => void {
  const ids = [...world.dlq.oldest(Infinity).keys()].filter((_, index) => index % oneIn === 0);
  const mark = (quarantined: boolean): void => {
    const instance = at();
    instance?.asked(() => {
      const patience = new AbortController();
      world.time.reach(instance.owner, world.time.now + PATIENCE_MS, () => patience.abort(new Error("no patience")));
      const changes = new Map(ids.map((id) => [id, { quarantined, at: instance.clock.now() }]));
      // What is not marked is not kept back, and what is not let go stays: he asks no more.
      instance.supervisor
        .dlq()
        ?.marks?.mark(changes, patience.signal)
        .catch(() => {});
    });
  };
  mark(true);
  return () => mark(false);
}
