/** The program of a thread that runs seeds: it is sent one, and answers with what there is to tell. @module */
import { once } from "node:events";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { ThreadData } from "./in-threads.ts";
import { tell } from "./told.ts";

const { save } = workerData as ThreadData;
if (parentPort !== null) await serve(parentPort);

/** While a seed runs nothing is listened to: one that waits for what never comes ends the thread, rather than to hold it for ever. */
async function serve(port: MessagePort): Promise<never> {
  for (;;) {
    const [seed] = (await once(port, "message")) as [number];
    port.postMessage(await tell(seed, save), []);
  }
}
