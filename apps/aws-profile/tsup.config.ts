import { application } from "@bridge/tooling/tsup";

export default application(
  { main: "src/main.ts" },
  // Processors run expressions in a thread, whose program they look for beside their own.
  { "processor-thread": "../../packages/processors/src/processor-thread.ts" },
);
