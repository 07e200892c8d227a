import { library } from "@bridge/tooling/tsup";

export default library();
