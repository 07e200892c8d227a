import { defineFactory, type DlqStore, type DlqStorePlugin, filePlace, type PluginContext } from "@bridge/ports";
import { describe, duration, fileToKeep, integer } from "@bridge/ports/options";
import * as v from "valibot";
import { openFileDlq } from "./open-file-dlq.ts";

const options = v.strictObject({
  path: describe(
    fileToKeep(),
    "The file. A relative path starts at the working directory; the folder is made if missing.",
  ),
  max_bytes: describe(
    v.optional(integer(1024 * 1024)),
    "The size from which further writes fail, until entries are redriven or deleted. Default: no limit.",
  ),
  retention: describe(
    v.optional(duration()),
    "Entries that failed longer ago than this are deleted. Default: they are kept.",
  ),
});

/** The DLQ store `file` (spec 1.6). */
export const fileDlqPlugin: DlqStorePlugin = {
  type: "file",
  role: "dlq",
  reach: "instance",
  place: (written) => filePlace((written as v.InferOutput<typeof options>).path),
  ...defineFactory({
    options,
    create:
      ({ path, max_bytes: maxBytes, retention: retentionMs }, { clock, logger }: PluginContext) =>
      async (signal): Promise<DlqStore> => {
        signal.throwIfAborted();
        return openFileDlq({ path, maxBytes, retentionMs, clock, logger });
      },
  }),
};
