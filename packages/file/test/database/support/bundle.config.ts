import { application } from "@bridge/tooling/tsup";

export default application({ "note-writer": "test/support/note-writer.ts" });
