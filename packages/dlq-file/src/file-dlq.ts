import { type DlqStoreAdapter, storeAdapter } from "@bridge/ports";
import { fileDlqPlugin } from "./file-dlq-plugin.ts";
import type { FileDlqStoreOptions } from "./option-types.ts";

/** The DLQ store `file`, for definitions in code and for registries. */
export const fileDlq: DlqStoreAdapter<FileDlqStoreOptions> = storeAdapter(fileDlqPlugin);
