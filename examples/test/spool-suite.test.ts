import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeTransport } from "@bridge/conformance";
import { spoolTransport } from "../adapter/spool-transport.ts";

const NO_CONNECTION = "a folder has no connection that could be broken";
const NO_RELEASE = "a folder cannot hold a file back: the engine holds the message";
const NO_ORDER = "files of one millisecond have no order";

describeTransport("spool", {
  plugin: spoolTransport,
  async open() {
    const folder = await mkdtemp(join(tmpdir(), "bridge-spool-"));
    return {
      source: { receiver: { options: { folder, poll_interval: "5ms" } } },
      target: { sender: { options: { folder } }, address: "" },
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
    };
  },
  except: {
    "source: what is unsettled comes back after the connection was cut": NO_CONNECTION,
    "source: a settlement that comes after the connection was cut is refused": NO_CONNECTION,
    "source: receive goes on after the connection was cut": NO_CONNECTION,
    "source: a delivery that is released comes back": NO_RELEASE,
    "source: a released delivery does not come back before its delay": NO_RELEASE,
    "source: receive counts grow": "files are not counted",
    "source: what a stop leaves unsettled comes back in its order, before what is new": NO_ORDER,
    "source: what the end of its process leaves unsettled comes back in its order": NO_ORDER,
    "target: a blocked send rejects when its signal aborts": NO_CONNECTION,
    "target: a send that is cut off fails as transient, and a later one succeeds": NO_CONNECTION,
    "target: without a connection a send fails as transient": NO_CONNECTION,
    "target: disposing the sender ends a blocked send": NO_CONNECTION,
  },
});
