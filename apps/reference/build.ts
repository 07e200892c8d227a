import { application } from "@bridge/tooling/application";

await application(
  { main: "src/main.ts", "bridge-audit": "../../packages/audit/src/file/bridge-audit.ts" },
  // Expressions of processors and the text of the configuration file have threads, whose programs are looked for beside this one.
  {
    "processor-thread": "../../packages/processors/src/processor-thread.ts",
    "yaml-thread": "../../packages/config-file/src/yaml-thread.ts",
  },
);
