/** MQTT to MQTT as one would write it by hand: a message is acknowledged when the target's broker has taken it. @module */
import { connect, connectAsync } from "mqtt";
import { generate } from "mqtt-packet";
import { ready } from "../harness/answer.ts";
import { routeJob } from "../suite/route-job.ts";

const { from, to, window } = routeJob();
const HELD = new Error("held");

const target = await connectAsync(`mqtt://127.0.0.1:${to.port}`, { protocolVersion: 5 });
const source = connect(`mqtt://127.0.0.1:${from.port}`, {
  protocolVersion: 5,
  clientId: "script",
  clean: false,
  properties: { receiveMaximum: window, sessionExpiryInterval: 3_600 },
});

let held = 0;
let readOn: (() => void) | undefined;

source.handleMessage = (packet, done) => {
  const { stream } = source;
  held++;
  target.publish(to.name, packet.payload, { qos: 1 }, (error) => {
    held--;
    readOn?.();
    if (error || source.stream !== stream) return;
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
