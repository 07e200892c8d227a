/** The web service at the end of a route: keeps what it is sent in a journal, and behaves as it is told. @module */
import { openSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { nameOf, readPayload, undeliverable } from "../message.ts";
import { type Behaviour, SPOILED, type TargetJob, type TargetNote } from "./job.ts";

const SLOW_MS = [50, 800] as const;
const MAX_BODY = 1_048_576;

const job = JSON.parse(process.argv[2] ?? "") as TargetJob;
let { behaviour } = job;
// One descriptor for appending: what is written is there at once, whatever becomes of this process.
const journal = openSync(job.journal, "a");

const keep = (id: string, intact: boolean): void => {
  writeSync(journal, `${intact ? "" : SPOILED}${id}\n`);
};

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { id, intact } = readPayload(await bodyOf(request));
  const name = nameOf(id);
  switch (behaviour) {
    case "unavailable":
      end(response, 503);
      return;
    case "throttled":
      end(response, 429, { "Retry-After": "1" });
      return;
    case "hanging":
      return;
    case "kept_then_error":
      keep(id, intact);
      end(response, 500);
      return;
    case "kept_then_silence":
      keep(id, intact);
      return;
    case "slow":
      await sleep(SLOW_MS[0] + Math.random() * (SLOW_MS[1] - SLOW_MS[0]));
      break;
    case "healthy":
      break;
  }
  if (job.refuses && name !== undefined && undeliverable(name)) {
    end(response, 422);
    return;
  }
  keep(id, intact);
  end(response, 200);
};

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
process.on("message", (next: Behaviour) => (behaviour = next));
process.on("disconnect", () => process.exit());
server.listen(job.port, "127.0.0.1", () => process.send?.("listening" satisfies TargetNote));

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Error("a body longer than any message");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function end(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Length": "0", ...headers }).end();
}
