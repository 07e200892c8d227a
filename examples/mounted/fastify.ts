/** The two servers in a fastify app: in a scope that parses no bodies. @module */
import fastify from "fastify";
import { bridge, bridgeListener } from "./bridge-servers.ts";

const app = fastify();
const listener = bridgeListener("/bridge");
app.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _body, done) => done(null));
  scope.all("/bridge/*", (request, reply) => {
    reply.hijack();
    void listener(request.raw, reply.raw);
  });
});
app.post("/echo", (request, reply) => reply.send(request.body));
app.addHook("onClose", () => bridge.shutdown());

console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
process.once("SIGTERM", () => void app.close());
