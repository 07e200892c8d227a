/** HTTP to MQTT as one would write it by hand: a request is answered when the target's broker has taken the message. @module */
import { createServer } from "node:http";
import { connectAsync } from "mqtt";
import { ready } from "../harness/answer.ts";
import { routeJob } from "../suite/route-job.ts";

const { from, to } = routeJob();

const target = await connectAsync(`mqtt://127.0.0.1:${to.port}`, { protocolVersion: 5 });

const server = createServer((request, response) => {
  if (request.method !== "POST" || request.url !== from.name) {
    response.writeHead(404).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    target.publish(to.name, Buffer.concat(chunks), { qos: 1 }, (error) => {
      response.writeHead(error ? 503 : 202, { "content-length": 0 }).end();
    });
  });
});

server.listen(from.port, "127.0.0.1", ready);
