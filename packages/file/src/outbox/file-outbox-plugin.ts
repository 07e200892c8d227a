import { defineFactory, type OutboxStore, type OutboxStorePlugin, filePlace, type PluginContext } from "@bridge/ports";
import { describe, duration, fileToKeep, integer } from "@bridge/ports/options";
import * as v from "valibot";
import { openFileOutbox } from "./open-file-outbox.ts";

const options = v.strictObject({
  path: describe(
    fileToKeep(),
    "The file. A relative path starts at the working directory; the folder is made if missing.",
  ),
  retention: describe(
    v.optional(duration(), "1h"),
    "How long delivered records are remembered, so that a repeat of their message is recognized.",
  ),
  max_bytes: describe(
    v.optional(integer(1024 * 1024)),
    "The size from which new records are refused, until some are delivered. Default: no limit.",
  ),
  on_corrupt: describe(
    v.optional(v.picklist(["refuse", "quarantine"], 'expected "refuse" or "quarantine"'), "refuse"),
    "What to do with a damaged file: refuse to start, or set it aside, with what was not delivered, and begin a new one.",
  ),
});

/** The outbox store `file` (spec 1.6). */
export const fileOutboxPlugin: OutboxStorePlugin = {
  type: "file",
  role: "outbox",
  reach: "instance",
  place: (written) => filePlace((written as v.InferOutput<typeof options>).path),
  ...defineFactory({
    options,
    create:
      ({ path, retention: retentionMs, max_bytes: maxBytes, on_corrupt: onCorrupt }, seams: PluginContext) =>
      async (signal): Promise<OutboxStore> => {
        signal.throwIfAborted();
        const { clock, random, logger } = seams;
        return openFileOutbox({ path, retentionMs, maxBytes, onCorrupt, clock, random, logger });
      },
  }),
};
