import { describeDlqParts, describeDlqStore } from "@bridge/conformance";
import { openMemoryDlq } from "../src/index.ts";

const FORGETS = "it keeps nothing beyond the process, and says so";
const UNCHANGED = "nobody can change what is in the memory of a process";

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
    "pages: an entry whose head says another route, or nothing, is found where it is told to be": UNCHANGED,
    "pages: an entry whose head says another time, error or binding is found where it is told to be": UNCHANGED,
    "marks: marks survive an abrupt end": FORGETS,
    "pages: an entry that somebody has moved into the future is found there: it is in no set up to now, and in what comes after":
      UNCHANGED,
    "pages: an entry whose id somebody has changed, or emptied, is told and named by that, and is spoiled": UNCHANGED,
    "jobs: a job whose document somebody has cut off, emptied or replaced is handed out, and holds up no other":
      UNCHANGED,
    "jobs: a job survives an abrupt end": FORGETS,
    "trash: an entry of the trash that somebody has given the id of another one comes back beside it, as one that is spoiled":
      UNCHANGED,
    "trash: an entry of the trash that somebody has given the id of another one stays when that is purged and brought back, too":
      UNCHANGED,
    "trash: an entry of the trash that somebody has given the id of another one stays when that is delivered":
      UNCHANGED,
    "trash: operators 3.5.7: what is purged stays until the end that its job says, whatever somebody has made of the end beside it":
      UNCHANGED,
    "trash: operators 3.5.7: of what is purged nothing is left a day after its job says so, whatever somebody has made of the end beside it":
      UNCHANGED,
    "trash: the trash survives an abrupt end": FORGETS,
  },
});
