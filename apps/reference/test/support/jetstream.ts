import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** A stream of its own on the server on loopback, with all subjects below its name. */
export interface TestStream extends AsyncDisposable {
  readonly subject: string;
  count(): Promise<number>;
  /** How many messages it has, and on how many subjects. */
  subjects(): Promise<{ readonly messages: number; readonly subjects: number }>;
}

export async function jetstream(name: string): Promise<TestStream> {
  const connection = await connect({ servers: "127.0.0.1:4222" });
  const { streams } = await jetstreamManager(connection);
  await streams.add({ name, subjects: [`${name}.>`] });
  const state = async () => (await streams.info(name)).state;
  return {
    subject: name,
    count: async () => (await state()).messages,
    async subjects() {
      const { messages, num_subjects: subjects = 0 } = await state();
      return { messages, subjects };
    },
    async [Symbol.asyncDispose]() {
      await streams.delete(name);
      await connection.close();
    },
  };
}
