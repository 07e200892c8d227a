import { randomUUID } from "node:crypto";
import { describeLeaseStore } from "@bridge/conformance";
import { openMemoryLeases } from "../../src/lease/open-memory-leases.ts";

const FORGETS = "it keeps nothing beyond the process, and says so";

let name = "";

describeLeaseStore("memory", {
  async open() {
    name = randomUUID();
    return openMemoryLeases({ name });
  },
  second: async () => openMemoryLeases({ name }),
  except: {
    "what was replaced survives an abrupt end": FORGETS,
    "what was stale before an abrupt end is refused after it": FORGETS,
  },
});

// The same as if it were a server: it outlives whoever uses it.
describeLeaseStore("memory, as a server", {
  async open() {
    name = randomUUID();
    return openMemoryLeases({ name });
  },
  reopen: async () => openMemoryLeases({ name }),
});
