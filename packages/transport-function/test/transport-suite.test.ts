import { describeTransport } from "@bridge/conformance";
import { functionTransport } from "../src/index.ts";
import { Places } from "./support/place.ts";

const NOT_TAKEN_BACK = "an iterable that fails does not take back what it has yielded: it stays under way";
const NOT_RELEASED = "an iterable cannot take a message back: the engine holds it";

const EXCEPT = {
  "source: what is unsettled comes back after the connection was cut": NOT_TAKEN_BACK,
  "source: a settlement that comes after the connection was cut is refused": NOT_TAKEN_BACK,
  "source: a delivery that is released comes back": NOT_RELEASED,
  "source: a released delivery does not come back before its delay": NOT_RELEASED,
  "source: receive counts grow": "it counts nothing: what comes again after a stop was not tried more often",
} as const;

const single = new Places(100);
describeTransport("function", {
  plugin: functionTransport(single),
  except: EXCEPT,
  open: async () => single.open(),
});

const batches = new Places(100);
const { receiver: _, ...sender } = functionTransport({ handlers: batches.batchHandlers });
describeTransport("function, in batches", { plugin: sender, open: async () => batches.open() });
