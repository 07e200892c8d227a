/**
 * Writes notes until so many are written, so many were tried, or it is killed:
 * `note-writer.ts FILE [SIZE] [WRITTEN] [TRIED]`. Each line says what became of one note. @module
 */
import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { BridgeError } from "@bridge/ports";
import { adding, Notes } from "./notes.ts";

const [path = "", size = "300", toWrite = "Infinity", toTry = "Infinity"] = process.argv.slice(2);
const WRITERS = 16;
const PAUSE_MS = 20;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function open(): Notes {
  try {
    return new Notes({ path });
  } catch (error) {
    say(`not opened: ${BridgeError.from(error).message}`);
    process.exit(3);
  }
}

const notes = open();
let tried = 0;
let written = 0;

async function writeOn(): Promise<void> {
  while (written < Number(toWrite) && tried < Number(toTry)) {
    const id = `n${tried++}`;
    try {
      say(`written ${await notes.write(adding(id, Number(size)))}`);
      written++;
    } catch (error) {
      const { code, message } = BridgeError.from(error);
      say(`refused ${id}: ${code} ${message}`);
      await pause(PAUSE_MS);
    }
  }
}

await Promise.all(Array.from({ length: WRITERS }, writeOn));
await notes[Symbol.asyncDispose]();
say("closed");
