import { library } from "@bridge/tooling/tsup";

export default library(["src/index.ts", "src/file.ts"], { "bridge-audit": "src/file/bridge-audit.ts" });
