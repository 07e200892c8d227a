import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type OutboxStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { type FileOutboxOptions, openFileOutbox } from "../../src/index.ts";

const PATHS = new WeakMap<OutboxStore, string>();

/** A folder of its own for each use. */
export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), "outbox-file-"));
}

/** An outbox in a folder of its own, which goes with it. */
export function openScratchOutbox(options: Partial<FileOutboxOptions> = {}): OutboxStore {
  return openIn(scratchFolder(), options);
}

/**
 * Another outbox on what the file of `store` holds at this moment, as if the process had been killed: the store itself
 * is not closed in between.
 */
export async function survivorOf(store: OutboxStore, options: Partial<FileOutboxOptions> = {}): Promise<OutboxStore> {
  const copy = scratchFolder();
  cpSync(dirname(PATHS.get(store) ?? ""), copy, { recursive: true });
  await store[Symbol.asyncDispose]();
  return openIn(copy, options);
}

function openIn(folder: string, options: Partial<FileOutboxOptions>): OutboxStore {
  const path = join(folder, "outbox.db");
  const store = openFileOutbox({
    path,
    retentionMs: 3_600_000,
    onCorrupt: "refuse",
    clock: systemClock,
    random: systemRandom(),
    logger: silentLogger,
    ...options,
  });
  const scratch: OutboxStore = {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  PATHS.set(scratch, path);
  return scratch;
}
