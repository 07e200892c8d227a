/**
 * `npm start`: an MQTT broker, something that publishes, a web service that refuses some orders, and the reference
 * binary between them, with examples/quickstart.yaml. @module
 */
import { startBridge } from "./bridge-process.ts";
import { findBroker } from "./broker.ts";
import { namesFor } from "./names.ts";
import { checkFree, type Ports, portsFrom } from "./ports.ts";
import { openPublisher } from "./publisher.ts";
import { openShop } from "./shop.ts";
import { watch } from "./watch.ts";

/** A closed terminal sends SIGHUP. */
const ENDS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs until a signal comes, or something goes wrong. */
async function quickstart(ports: Ports): Promise<void> {
  await checkFree(ports);
  await using around = new AsyncDisposableStack();
  const { root, clientId } = namesFor(ports);
  const broker = around.use(await findBroker(ports.broker, clientId));
  around.use(await openShop(ports.target));
  const publisher = around.use(await openPublisher(broker.url, root));
  const bridge = await startBridge(ports);

  const watching = new AbortController();
  let asked = false;
  const end = (): void => {
    asked = true;
    watching.abort();
    publisher.end();
    bridge.stop();
  };
  for (const signal of ENDS) process.on(signal, end);
  const watched = watch({ ports, broker, publisher }, watching.signal).catch((error: unknown) => {
    if (watching.signal.aborted) return undefined;
    bridge.stop();
    return error instanceof Error ? error : new Error(String(error));
  });
  // At once: whoever typed Ctrl-C may have the next prompt before everything has ended.
  void watched.then(() => asked && process.stdout.write("ending\n"));
  const code = await bridge.ended;
  watching.abort();
  const failure = await watched;
  for (const signal of ENDS) process.off(signal, end);
  if (failure !== undefined) throw failure;
  if (!asked) throw new Error(`the bridge ended by itself, with code ${code}`);
  if (code !== 0) throw new Error(`the bridge did not end cleanly, but with code ${code}`);
}

// A terminal that is closed takes no more text; what runs has to be ended all the same.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

try {
  const ports = portsFrom(process.argv.slice(2));
  if (typeof ports === "string") process.stdout.write(ports);
  else await quickstart(ports);
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
