/**
 * Writes events until so many were tried, or it is killed: `event-writer.ts FILE [TRIED]`. Each line says what became of
 * one. @module
 */
import { writeSync } from "node:fs";
import { event, openSink } from "./scratch.ts";

const [path = "", toTry = "Infinity"] = process.argv.slice(2);
const WRITERS = 16;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

const sink = await openSink(path, { maxBytes: 20_000, keep: 1000 });
let tried = 0;
await Promise.all(
  Array.from({ length: WRITERS }, async () => {
    while (tried < Number(toTry)) {
      const id = `n${tried++}`;
      try {
        await sink.write(event(id));
        say(`written ${id}`);
      } catch (error) {
        say(`refused ${id}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }),
);
await sink[Symbol.asyncDispose]();
say("closed");
