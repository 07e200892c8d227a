/** Where the log of a bridge in code goes. `pnpm run logged` @module */
import { defineBridge } from "@bridge/core";
import type { Logger, LogFields } from "@bridge/ports";
import { memory } from "@bridge/transport-memory";

function consoleLogger(bound: LogFields): Logger {
  const at = (level: string) => (message: string, fields?: LogFields) =>
    console.log(JSON.stringify({ level, message, ...bound, ...fields }));
  return {
    debug: () => {}, // one line for each attempt that failed, and more
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => consoleLogger({ ...bound, ...fields }),
  };
}

const inside = memory();
const policy = { on_permanent_failure: "drop", on_expired: "drop" } as const;
const copy = defineBridge({
  id: "logged",
  routes: { copy: { from: inside.channel("in"), to: inside.at("out"), policy } },
});

const soon = AbortSignal.timeout(10_000);
const bridge = await copy.start({ signal: soon, logger: consoleLogger({ service: "shop" }) });
await bridge.shutdown();
