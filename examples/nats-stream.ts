/**
 * What the examples need of NATS, whose own command line Debian does not have:
 * `node examples/nats-stream.ts make STREAM SUBJECT`, `… publish SUBJECT TEXT`, `… show STREAM`. @module
 */
import { argv, env } from "node:process";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const [, , command = "", name = "", text = ""] = argv;
const connection = await connect({ servers: env["NATS_URL"] ?? "nats://127.0.0.1:4222" });
const manager = await jetstreamManager(connection);
switch (command) {
  case "make":
    await manager.streams.add({ name, subjects: [text] });
    break;
  case "publish": {
    const { stream, seq } = await manager.jetstream().publish(name, text);
    console.log(`${stream} has it, as its message ${seq}`);
    break;
  }
  case "show": {
    const { first_seq: first, last_seq: last } = (await manager.streams.info(name)).state;
    for (let seq = first; seq <= last; seq++) {
      const message = await manager.streams.getMessage(name, { seq });
      if (message !== null) console.log(`${message.subject} ${message.string()}`);
    }
    break;
  }
  default:
    console.error("what to do: make STREAM SUBJECT, publish SUBJECT TEXT, or show STREAM");
    process.exitCode = 2;
}
await connection.close();
