import { describeOutboxStore } from "@bridge/conformance";
import { systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "../src/index.ts";

const FORGETS = "it keeps nothing beyond the process, and says so";

describeOutboxStore("memory", {
  open: async (options) => openMemoryOutbox({ ...options, maxRecords: 2_000, random: systemRandom() }),
  except: {
    "what was persisted survives an abrupt end": FORGETS,
    "an abrupt end leaves all records of a call or none": FORGETS,
    "the order survives an abrupt end, and what comes later is younger": FORGETS,
    "how loans ended survives an abrupt end": FORGETS,
    "evidence against duplicates survives an abrupt end": FORGETS,
    "what was lent at an abrupt end is lent again, uncharged": FORGETS,
    "no key is overtaken because of an abrupt end": FORGETS,
    "what redrives an entry survives an abrupt end": FORGETS,
  },
});
