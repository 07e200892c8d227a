/** A process that takes one message of a queue, says so, and holds it until it is killed. @module */
import { never, receiver, textOf } from "./parts.ts";

const held = receiver({ queue_url: process.argv[2], visibility_timeout: "2s" });
for await (const delivery of held.receive(never())) process.stdout.write(`${textOf(delivery)}\n`);
