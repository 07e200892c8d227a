import { describeTransport } from "@bridge/conformance";
import { memoryHub } from "../src/index.ts";
import { memoryTransport } from "../src/memory-transport.ts";
import { memoryPlace } from "./memory-place.ts";

const hub = memoryHub();
const plugin = memoryTransport(hub);
const { session: _, ...withoutSession } = plugin;

describeTransport("memory, on a session", { plugin, open: () => memoryPlace(hub, { session: true }) });
describeTransport("memory, without a session", {
  plugin: withoutSession,
  open: () => memoryPlace(hub, { session: false }),
});
describeTransport("memory, as a source that neither counts nor takes back", {
  plugin: withoutSession,
  open: () => memoryPlace(hub, { session: false, counts: false, releasable: false }),
  except: {
    "source: receive counts grow": "asked not to count",
    "source: a delivery that is released comes back": "asked not to take deliveries back",
    "source: a released delivery does not come back before its delay": "asked not to take deliveries back",
  },
});
