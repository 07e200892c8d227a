import { PATIENCE } from "@bridge/tooling/patience";
import { memoryDlq } from "@bridge/dlq-memory";
import type { DlqStoreDefinition } from "@bridge/ports";

export const dlq: DlqStoreDefinition = memoryDlq({ acknowledge_volatile: true });
export const bound = (): AbortSignal => AbortSignal.timeout(PATIENCE.timeout);
