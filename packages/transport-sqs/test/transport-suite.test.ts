import { describeTransport } from "@bridge/conformance";
import { startStrictSqs } from "@bridge/tooling/strict-sqs";
import { afterAll, describe } from "vitest";
import { sqsTransport } from "../src/sqs-transport.ts";
import { CLIENT } from "./support/client.ts";
import { startFauxqs } from "./support/fauxqs.ts";
import { sqsPlace } from "./support/sqs-place.ts";

const VISIBILITY = "a connection that is lost gives no message back: that is for the visibility timeout";
const NO_ORDER = "a standard queue has no order";
const ONE_OF_A_GROUP = "fauxqs lends one message of a group at a time";
const except = {
  "source: what is unsettled comes back after the connection was cut": VISIBILITY,
  "source: a settlement that comes after the connection was cut is refused": VISIBILITY,
} as const;
const unordered = (why: string) => ({
  ...except,
  "source: what a stop leaves unsettled comes back in its order, before what is new": why,
  "source: what the end of its process leaves unsettled comes back in its order": why,
});

const strict = await startStrictSqs();
const fauxqs = await startFauxqs();
afterAll(async () => {
  await strict[Symbol.asyncDispose]();
  await fauxqs[Symbol.asyncDispose]();
});

const plugin = sqsTransport({ client: CLIENT });

// Most of a case is waiting for polls to end.
describe.concurrent("side by side", () => {
  describeTransport("sqs, standard, fauxqs", {
    plugin,
    except: unordered(NO_ORDER),
    open: () => sqsPlace(fauxqs, "standard"),
  });
  describeTransport("sqs, standard, strict double", {
    plugin,
    except: unordered(NO_ORDER),
    open: () => sqsPlace(strict, "standard"),
  });
  describeTransport("sqs, fifo, fauxqs", {
    plugin,
    except: unordered(ONE_OF_A_GROUP),
    open: () => sqsPlace(fauxqs, "fifo"),
  });
  describeTransport("sqs, fifo, strict double", { plugin, except, open: () => sqsPlace(strict, "fifo") });
});
