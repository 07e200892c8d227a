/** MQTT to HTTP as one would write it by hand: a message is acknowledged when the target has answered 2xx. @module */
import { connect } from "mqtt";
import { generate } from "mqtt-packet";
import { Pool } from "undici";
import { ready } from "../harness/answer.ts";
import { routeJob } from "../suite/route-job.ts";

const { from, to, window } = routeJob();
const HELD = new Error("held");

const target = new Pool(`http://127.0.0.1:${to.port}`, { connections: window });
const source = connect(`mqtt://127.0.0.1:${from.port}`, {
  protocolVersion: 5,
  clientId: "script",
  clean: false,
  properties: { receiveMaximum: window, sessionExpiryInterval: 3_600 },
});

let held = 0;
let readOn: (() => void) | undefined;

async function post(payload: Buffer): Promise<boolean> {
  const { statusCode, body } = await target.request({ path: to.name, method: "POST", body: payload });
  await body.dump();
  return statusCode < 300;
}

source.handleMessage = (packet, done) => {
  const { stream } = source;
  held++;
  void post(packet.payload as Buffer)
    .catch(() => false)
    .then((taken) => {
      held--;
      readOn?.();
      if (!taken || source.stream !== stream) return;
      const puback = { cmd: "puback", messageId: packet.messageId ?? 0, reasonCode: 0 } as const;
      stream.write(generate(puback, { protocolVersion: 5 }));
    });
  // Without an error the library acknowledges by itself, and without an answer it reads no further. Mosquitto sends more
  // than the window that it was told, so the window is kept here too.
  readOn = () => {
    readOn = undefined;
    done(HELD);
  };
  if (held < window) readOn();
};

await source.subscribeAsync(from.name, { qos: 1 });
ready();
