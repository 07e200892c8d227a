import { describeDlqParts, describeDlqStore } from "@bridge/conformance";
import { openMemoryDlq } from "../src/index.ts";

const FORGETS = "it keeps nothing beyond the process, and says so";

describeDlqStore("memory", {
  open: async () => openMemoryDlq({ maxEntries: 2_000 }),
  except: {
    "what was written survives an abrupt end": FORGETS,
    "what was deleted stays deleted after an abrupt end": FORGETS,
  },
});

describeDlqParts("memory", {
  open: async () => openMemoryDlq({ maxEntries: 12_000 }),
  except: {
    "marks: marks survive an abrupt end": FORGETS,
    "jobs: a job survives an abrupt end": FORGETS,
    "trash: the trash survives an abrupt end": FORGETS,
  },
});
