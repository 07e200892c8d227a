/**
 * A bridge in code, as a service of somebody would have it: orders go to a function of its own, invoices to a web service.
 * It reads where everything is from the document that the binary would run, and nothing else: `main.ts -config FILE`. @module
 */
import { defineBridge } from "@bridge/core";
import { fileDlq } from "@bridge/dlq-file";
import { amqp } from "@bridge/transport-amqp";
import { handler } from "@bridge/transport-function";
import { http } from "@bridge/transport-http";
import { AMQP, POLICY, sourceQueue } from "../bridge/document.ts";
import { LANE_HEADER } from "../message.ts";
import { readPlaces } from "./places.ts";
import { saver } from "./saver.ts";
import { serveBridge } from "./serve-bridge.ts";
import { troubleLogger } from "./trouble-logger.ts";

const places = await readPlaces(process.argv[3] ?? "");
const save = saver(places.web);

const rabbit = amqp({ url: places.rabbit, ...AMQP });
const shop = defineBridge({
  id: "shop",
  bridge: { terminal_linger: "100ms" },
  stores: { dlq: fileDlq({ path: places.dlq }) },
  routes: {
    "amqp-function": {
      from: rabbit.queue(sourceQueue("amqp-function"), { prefetch: 200, declare: true }),
      to: handler(async (message, { signal }) => save(message, signal)),
      policy: { ...POLICY, max_replay_attempts: 8 },
    },
    "amqp-http": {
      from: rabbit.queue(sourceQueue("amqp-http"), { declare: true }),
      to: http({ url: places.web, connect_timeout: "3s" }).at(`/keep/{${LANE_HEADER}}`),
      policy: POLICY,
    },
  },
});

const logger = troubleLogger({});
const running = shop.run({ logger });
const servers = await serveBridge(await shop.start(), places, logger);
await running;
await servers[Symbol.asyncDispose]();
