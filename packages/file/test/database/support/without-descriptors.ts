/** Opens notes without a file descriptor, and again with some: `without-descriptors.ts FILE`. Run with a low limit. @module */
import { closeSync, openSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { BridgeError } from "@bridge/ports";
import { adding, Notes } from "./notes.ts";

const [path = ""] = process.argv.slice(2);
const taken: number[] = [];
let attempts = 0;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function attempt(): Promise<void> {
  try {
    await using notes = new Notes({ path });
    say(`written ${await notes.write(adding(`n${attempts++}`))}`);
  } catch (error) {
    const { message, retryAfterMs } = BridgeError.from(error);
    say(`not opened, again in ${retryAfterMs}: ${message}`);
  }
}

// All that it loads is loaded then.
await attempt();
try {
  for (;;) taken.push(openSync(devNull, "r"));
} catch {
  // Up to the limit, and then with a few left.
  for (let left = 0; left < 9; left++) {
    await attempt();
    closeSync(taken.pop() ?? 0);
  }
}
for (const handle of taken.splice(0)) closeSync(handle);
await attempt();
