import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ConfigLeaver } from "@bridge/conformance";

const STORE = new URL("../../src/index.ts", import.meta.url).href;

/** Another process, which is leaving stores of what the file at `path` holds: it has remembered that, and goes on. */
export async function leftElsewhere(path: string): Promise<AsyncDisposable & ConfigLeaver> {
  const program = `
    import { openConfigFile } from ${JSON.stringify(STORE)};
    const { signal } = new AbortController();
    const store = openConfigFile(process.argv[1]);
    await store.departures.remember(await store.load(signal), signal, {});
    console.log("remembered");
    for await (const _ of process.stdin) {
      await store.departures.forget(signal);
      console.log("forgotten");
    }`;
  const options = ["--conditions=@bridge/source", "--input-type=module", "--eval", program, "--", path];
  const other = spawn(process.execPath, options);
  const ended = once(other, "exit");
  const kill = async (): Promise<void> => {
    other.kill("SIGKILL");
    await ended;
  };
  const failed = ended.then(() => Promise.reject(new Error("the other process has ended")));
  failed.catch(() => {});
  const says = () => Promise.race([once(other.stdout, "data"), failed]);
  await says();
  const forget = async (): Promise<void> => {
    const said = says();
    other.stdin.write("forget\n");
    await said;
  };
  return { forget, kill, [Symbol.asyncDispose]: kill };
}
