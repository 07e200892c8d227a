import { describeDlqStore } from "@bridge/conformance";
import { openMemoryDlq } from "../src/index.ts";

const FORGETS = "it keeps nothing beyond the process, and says so";

describeDlqStore("memory", {
  open: async () => openMemoryDlq({ maxEntries: 2_000 }),
  except: {
    "what was written survives an abrupt end": FORGETS,
    "what was deleted stays deleted after an abrupt end": FORGETS,
  },
});
