import { spawn } from "node:child_process";
import { once } from "node:events";

const STORE = new URL("../../src/index.ts", import.meta.url).href;

/** Another process, which is leaving stores of what the file at `path` holds: it has remembered that, and goes on. */
export async function leftElsewhere(path: string): Promise<AsyncDisposable & { kill(): Promise<void> }> {
  const program = `
    import { openConfigFile } from ${JSON.stringify(STORE)};
    const { signal } = new AbortController();
    const store = openConfigFile(process.argv[1]);
    await store.departures.remember(await store.load(signal), signal, {});
    console.log("remembered");
    setInterval(() => {}, 60_000);`;
  const options = ["--conditions=@bridge/source", "--input-type=module", "--eval", program, "--", path];
  const other = spawn(process.execPath, options);
  const ended = once(other, "exit");
  const kill = async (): Promise<void> => {
    other.kill("SIGKILL");
    await ended;
  };
  const failed = ended.then(() => Promise.reject(new Error("it has remembered nothing")));
  await Promise.race([once(other.stdout, "data"), failed]);
  return { kill, [Symbol.asyncDispose]: kill };
}
