import { connect, type Msg } from "@nats-io/transport-node";
import { ownServer } from "./own-server.ts";

/** A server without JetStream, where a test answers in its place what is asked on one of its subjects. */
export async function standIn(subject: string, answer: (question: Msg) => void) {
  const server = await ownServer(["jetstream: false"]);
  const connection = await connect({ servers: `127.0.0.1:${server.port}`, noAsyncTraces: true, reconnect: false });
  connection.subscribe(subject, { callback: (_, question) => answer(question) });
  await connection.flush();
  return {
    port: server.port,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
