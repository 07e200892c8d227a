/** A web service that takes everything, in a process of its own. @module */
import type { AddressInfo } from "node:net";
import { answer, ready } from "../harness/answer.ts";
import { openHttpSink } from "../load/sink.ts";

const server = await openHttpSink(0, () => {});

answer("port", () => (server.address() as AddressInfo).port);
ready();
