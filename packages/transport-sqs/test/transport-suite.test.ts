import { describeTransport } from "@bridge/conformance";
import { startStrictSqs } from "@bridge/tooling/strict-sqs";
import { afterAll, describe } from "vitest";
import { sqsTransport } from "../src/index.ts";
import { CLIENT } from "./support/client.ts";
import { startFauxqs } from "./support/fauxqs.ts";
import { sqsPlace } from "./support/sqs-place.ts";

const VISIBILITY = "a connection that is lost gives no message back: that is for the visibility timeout";
const except = {
  "source: what is unsettled comes back after the connection was cut": VISIBILITY,
  "source: a settlement that comes after the connection was cut is refused": VISIBILITY,
} as const;

const strict = await startStrictSqs();
const fauxqs = await startFauxqs();
afterAll(async () => {
  await strict[Symbol.asyncDispose]();
  await fauxqs[Symbol.asyncDispose]();
});

const plugin = sqsTransport({ client: CLIENT });

// Most of a case is waiting for polls to end.
describe.concurrent("side by side", () => {
  for (const kind of ["standard", "fifo"] as const) {
    describeTransport(`sqs, ${kind}, fauxqs`, { plugin, except, open: () => sqsPlace(fauxqs, kind) });
    describeTransport(`sqs, ${kind}, strict double`, { plugin, except, open: () => sqsPlace(strict, kind) });
  }
});
