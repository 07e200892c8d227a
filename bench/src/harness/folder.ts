import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for the files of one run. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
}

/** Makes one where the system keeps what is temporary; that has to be a disk, for a sync to mean something. */
export async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "bench-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
