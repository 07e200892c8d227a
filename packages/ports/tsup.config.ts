import { library } from "@bridge/tooling/tsup";

export default library(["src/index.ts", "src/conditions.ts", "src/internal.ts", "src/options.ts", "src/tls.ts"]);
