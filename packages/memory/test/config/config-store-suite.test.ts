import { describeConfigStore } from "@bridge/conformance";
import { FORGETS, memorySubject } from "./memory-subject.ts";

describeConfigStore("memory", {
  ...memorySubject,
  except: {
    "what was written survives an abrupt end": FORGETS,
    "a history survives an abrupt end": FORGETS,
    "what is kept survives an abrupt end": FORGETS,
  },
});
