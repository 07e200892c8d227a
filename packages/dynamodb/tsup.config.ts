import { library } from "@bridge/tooling/tsup";

export default library(["src/index.ts", "src/internal.ts"]);
