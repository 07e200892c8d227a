import type { FaultyLink, TcpProxy } from "@bridge/conformance";

/** Enough turns of the event loop for bytes to pass a proxy of this process in both directions. */
const TURNS = 20;

/**
 * A proxy whose cuts let through what was written before them. A PUBACK is not answered, so that nobody can know whether
 * a broker had it when its connection is cut in the same moment.
 */
export function afterWrites(proxy: TcpProxy): FaultyLink {
  return {
    cut() {
      let turns = TURNS;
      const step = (): void => {
        if (turns-- > 0) setImmediate(step);
        else proxy.cut();
      };
      step();
    },
    refuse: () => proxy.refuse(),
    freeze: () => proxy.freeze(),
    restore: () => proxy.restore(),
  };
}
