import { library } from "@bridge/tooling/tsup";

export default library(["src/index.ts"], { "bridge-audit": "src/bridge-audit.ts" });
