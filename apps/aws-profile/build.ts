import { application } from "@bridge/tooling/application";

await application(
  { main: "src/main.ts" },
  // The launcher looks for what asks for the health; expressions of processors and the text of the configuration file have threads, whose programs are looked for beside this one.
  {
    healthcheck: "src/health-check-program.ts",
    "processor-thread": "../../packages/processors/src/processor-thread.ts",
    "yaml-thread": "../../packages/config-file/src/yaml-thread.ts",
  },
);
