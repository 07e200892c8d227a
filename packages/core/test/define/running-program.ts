/** A program that runs a bridge whose parts keep no process alive. Says when it runs, and when it is over. @module */
import { type Logger, silentLogger } from "@bridge/ports";
import { memory } from "@bridge/transport-memory";
import { defineBridge } from "../../src/index.ts";

const inside = memory();
const logger: Logger = {
  ...silentLogger,
  info: (_message, fields) => {
    if (fields?.["to"] === "running") process.stdout.write("running\n");
  },
  child: () => logger,
};
await defineBridge({
  id: "program",
  routes: {
    r: {
      from: inside.channel("in"),
      to: inside.at("out"),
      policy: { on_permanent_failure: "drop", on_expired: "drop" },
    },
  },
}).run({ logger });
process.stdout.write("over\n");
