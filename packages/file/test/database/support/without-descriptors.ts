/**
 * Opens notes without a file descriptor, then with one more each time until they are enough, and says what became of each attempt:
 * `without-descriptors.ts FILE`. Run with a low limit. @module
 */
import { closeSync, existsSync, openSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { BridgeError } from "@bridge/ports";
import { opening } from "../../../src/database/file-fault.ts";
import { adding, Notes, openNotes } from "./notes.ts";
import { openDescriptors } from "./system-calls.ts";

const [path = ""] = process.argv.slice(2);
let attempts = 0;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function write(): Promise<void> {
  await using notes = new Notes({ path });
  say(`written ${await notes.write(adding(`n${attempts++}`))}`);
}

/** As after a failed sync. */
async function letGo(): Promise<void> {
  const rest = opening(path, () => openNotes(path)).letGo();
  rest[Symbol.dispose]();
  say(existsSync(`${path}-wal`) ? "let go with its log" : "let go without its log");
}

async function works(attempt: () => Promise<void>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch (error) {
    const { message, retryAfterMs } = BridgeError.from(error);
    say(`not opened, again in ${retryAfterMs}: ${message}`);
    return false;
  }
}

async function untilItWorks(attempt: () => Promise<void>): Promise<void> {
  // All that it loads is loaded then.
  await works(attempt);
  const before = openDescriptors();
  const taken: number[] = [];
  const held: number[] = [];
  const look = (): void => void held.push(openDescriptors() - taken.length - before);
  try {
    for (;;) taken.push(openSync(devNull, "r"));
  } catch {
    while (taken.length > 0 && !(await works(attempt))) {
      closeSync(taken.pop() ?? 0);
      look();
    }
  }
  for (const handle of taken.splice(0)) closeSync(handle);
  look();
  say(`holds up to ${Math.max(...held)} more`);
}

await untilItWorks(write);
await untilItWorks(letGo);
