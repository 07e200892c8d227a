import { describeTransport } from "@bridge/conformance";
import { httpTransport } from "../src/http-transport.ts";
import { httpPlace } from "./support/http-place.ts";

const WORK_GOES_ON = "a caller that hangs up does not end the work on its message";
const NO_ORDER = "each caller repeats in its own time";
const HELD = "HTTP cannot hand a message out again later: the caller waits for its answer";

describeTransport("http", {
  plugin: httpTransport(),
  open: httpPlace,
  except: {
    "source: what is unsettled comes back after the connection was cut": WORK_GOES_ON,
    "source: a settlement that comes after the connection was cut is refused": WORK_GOES_ON,
    "source: a delivery that is released comes back": HELD,
    "source: a released delivery does not come back before its delay": HELD,
    "source: what a stop leaves unsettled comes back in its order, before what is new": NO_ORDER,
    "source: what the end of its process leaves unsettled comes back in its order": NO_ORDER,
    "source: receive counts grow": "HTTP counts no deliveries",
  },
});
