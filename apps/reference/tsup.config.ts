import { application } from "@bridge/tooling/tsup";

export default application(["src/main.ts"]);
