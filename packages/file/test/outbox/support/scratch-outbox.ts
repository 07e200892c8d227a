import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type OutboxStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { type FileOutboxOptions, openFileOutbox } from "../../../src/outbox/open-file-outbox.ts";

const PATHS = new WeakMap<OutboxStore, string>();

/** A folder that goes with the test. */
export function scratchFolder(): Disposable & { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "file-outbox-"));
  return {
    folder,
    path: join(folder, "outbox.db"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function openOutbox(path: string, options: Partial<FileOutboxOptions> = {}): OutboxStore {
  return openFileOutbox({
    path,
    retentionMs: 3_600_000,
    onCorrupt: "refuse",
    clock: systemClock,
    random: systemRandom(),
    logger: silentLogger,
    ...options,
  });
}

/** An outbox in a folder of its own, which goes with it. */
export function openScratchOutbox(options: Partial<FileOutboxOptions> = {}): OutboxStore {
  return openIn(scratchFolder(), options);
}

/**
 * Another outbox on what the file of `store` holds at this moment, as if the process had been killed: the store itself
 * is not closed in between. `before` may change what it holds.
 */
export async function survivorOf(
  store: OutboxStore,
  options: Partial<FileOutboxOptions> = {},
  before: (path: string) => void = () => {},
): Promise<OutboxStore> {
  const scratch = scratchFolder();
  cpSync(dirname(PATHS.get(store) ?? ""), scratch.folder, { recursive: true });
  await store[Symbol.asyncDispose]();
  before(scratch.path);
  return openIn(scratch, options);
}

function openIn(scratch: ReturnType<typeof scratchFolder>, options: Partial<FileOutboxOptions>): OutboxStore {
  const store = openOutbox(scratch.path, options);
  const owning: OutboxStore = {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
  PATHS.set(owning, scratch.path);
  return owning;
}
