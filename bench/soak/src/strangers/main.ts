/** Everybody who means harm, or does it: hostile messages, clients that never read. A process of its own. @module */
import { once } from "node:events";
import { createServer } from "node:http";
import { answer, ready } from "../../../src/harness/answer.ts";
import { Crowd } from "./crowd.ts";
import { Feed } from "./feed.ts";
import type { StrangersJob, StrangersReport } from "./job.ts";

const job = JSON.parse(process.argv[2] ?? "") as StrangersJob;
const enough = new AbortController();
const feed = new Feed(job);
let crowd: Crowd | undefined;
let feeding: Promise<void> = Promise.resolve();
let atSink = 0;

const sink = createServer((request, response) => {
  request.resume().on("end", () => {
    atSink++;
    response.writeHead(204).end();
  });
  request.on("error", () => {});
});
sink.listen(job.sink, "127.0.0.1");
await once(sink, "listening");

answer("begin", () => {
  crowd = new Crowd(job.sides.flatMap(({ monitor, admin, ingest }) => [monitor, admin, ingest]));
  feeding = feed.run(enough.signal);
});

/** They go away; the sink stays. */
answer("enough", async (): Promise<StrangersReport> => {
  enough.abort();
  crowd?.[Symbol.dispose]();
  await feeding;
  const { cut = 0, connected = 0, pipelinedMib = 0 } = crowd ?? {};
  const { written, refused } = feed;
  return { written, refused, atSink, cut, connected, pipelinedMib };
});
ready();
