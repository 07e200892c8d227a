import { connect, connectAsync } from "mqtt";
import { generate } from "mqtt-packet";
import type { OpenSource, OpenTarget } from "./forward.ts";

const HELD = new Error("held");

export const mqttSource: OpenSource = async ({ port, name }, window, forward) => {
  const source = connect(`mqtt://127.0.0.1:${port}`, {
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
    forward(packet.payload as Buffer, (taken) => {
      held--;
      readOn?.();
      if (!taken || source.stream !== stream) return;
      const puback = { cmd: "puback", messageId: packet.messageId ?? 0, reasonCode: 0 } as const;
      stream.write(generate(puback, { protocolVersion: 5 }));
    });
    // Without an error the library acknowledges by itself, and without an answer it reads no further. Mosquitto sends
    // more than the window that it was told, so the window is kept here too.
    readOn = () => {
      readOn = undefined;
      done(HELD);
    };
    if (held < window) readOn();
  };
  await source.subscribeAsync(name, { qos: 1 });
};

export const mqttTarget: OpenTarget = async ({ port, name }) => {
  const target = await connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 });
  return (payload, done) => target.publish(name, payload, { qos: 1 }, (error) => done(!error));
};
