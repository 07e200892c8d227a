import { describeOutboxStore } from "@bridge/conformance";
import { openScratchOutbox, survivorOf } from "./support/scratch-outbox.ts";

describeOutboxStore("file", {
  open: async (options) => openScratchOutbox(options),
  reopen: async (store, options) => survivorOf(store, options),
});
