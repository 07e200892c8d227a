import { describeDlqParts, describeDlqStore } from "@bridge/conformance";
import type { DlqStore } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { openScratchDlq, survivorOf } from "./support/scratch-dlq.ts";

const subject = {
  open: async () => openScratchDlq(),
  reopen: async (store: DlqStore) => survivorOf(store),
};

describeDlqStore("file", subject);
describeDlqParts("file", { ...subject, courses: times(6, 60) });
