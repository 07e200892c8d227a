/** Puts dead letters until it is killed, and writes the id of each that was put: `dlq-writer.ts FILE`. @module */
import { writeSync } from "node:fs";
import { deadLetter } from "./dead-letter.ts";
import { openDlq } from "./scratch-dlq.ts";

const [path = ""] = process.argv.slice(2);
const { signal } = new AbortController();
const store = openDlq(path);
let next = 0;

async function putOn(): Promise<never> {
  for (;;) {
    const number = next++;
    await store.put(deadLetter(`e${number}`, { failedAt: number }, number % 2_000), signal);
    writeSync(1, `e${number}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, putOn));
