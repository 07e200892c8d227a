import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Probation } from "@bridge/ports";

/** Another process, which has something on probation. */
export interface TriedElsewhere extends AsyncDisposable {
  kill(): Promise<void>;
  /** It ends in order, and says so beforehand. */
  end(): Promise<void>;
}

const STORE = new URL("../../src/index.ts", import.meta.url).href;

/** Starts a process that tries `{bridge: {id: plant-8}}` out on the file at `path`. */
export async function triedElsewhere(path: string, probation: Probation): Promise<TriedElsewhere> {
  const program = `
    import { openConfigFile } from ${JSON.stringify(STORE)};
    const { signal } = new AbortController();
    const store = openConfigFile(process.argv[1]);
    const probation = ${JSON.stringify(probation)};
    const entry = { version: probation.version, committedAt: 1, actor: "alice", changes: [], pending: true };
    await store.history.append(entry, signal);
    await store.probations.begin({ bridge: { id: "plant-8" } }, await store.load(signal), probation, signal);
    process.on("SIGTERM", async () => {
      await store.probations.note({ probation, orderly: true }, signal);
      process.exit();
    });
    console.log("begun");
    setInterval(() => {}, 60_000);`;
  const options = ["--conditions=@bridge/source", "--input-type=module", "--eval", program, "--", path];
  const other = spawn(process.execPath, options);
  const ended = once(other, "exit");
  const kill = async (): Promise<void> => {
    other.kill("SIGKILL");
    await ended;
  };
  const end = async (): Promise<void> => {
    other.kill("SIGTERM");
    await ended;
  };
  await Promise.race([once(other.stdout, "data"), ended.then(() => Promise.reject(new Error("it did not begin")))]);
  return { kill, end, [Symbol.asyncDispose]: kill };
}
