/** An emulator of SQS in a process of its own. Counts what is asked of it through the SDK: that is what AWS would charge. @module */
import type { AddressInfo } from "node:net";
import { buildApp } from "fauxqs";
import { answer, ready } from "./answer.ts";

const app = buildApp({ logger: false });
let requests = 0;
app.addHook("onRequest", (request, _reply, done) => {
  if (String(request.headers["user-agent"]).startsWith("aws-sdk")) requests++;
  done();
});
await app.listen({ port: 0, host: "127.0.0.1" });

answer("port", () => (app.server.address() as AddressInfo).port);
answer("requests", () => requests);
ready();
