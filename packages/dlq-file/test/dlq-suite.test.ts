import { describeDlqStore } from "@bridge/conformance";
import { openScratchDlq, survivorOf } from "./support/scratch-dlq.ts";

describeDlqStore("file", {
  open: async () => openScratchDlq(),
  reopen: async (store) => survivorOf(store),
});
