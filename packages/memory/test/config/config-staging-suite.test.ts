import { describeConfigStaging } from "@bridge/conformance";
import { FORGETS, memorySubject } from "./memory-subject.ts";

describeConfigStaging("memory", {
  ...memorySubject,
  except: { "what is staged survives an abrupt end, to no effect": FORGETS },
});
