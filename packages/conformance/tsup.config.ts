import { library } from "@bridge/tooling/tsup";

export default library(["src/index.ts", "src/dlq/dlq-steps.ts", "src/outbox/outbox-commands.ts", "src/tcp-proxy.ts"]);
