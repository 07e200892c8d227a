import { defineFactory, type Receiver, type Sender, type TransportPlugin } from "@bridge/ports";
import * as v from "valibot";

const none = v.strictObject({});

/** A transport with these two ends. */
export function onDemandTransport(receiver: Receiver, sender: Sender): TransportPlugin {
  return {
    type: "on-demand",
    receiver: {
      needsSession: false,
      topics: "refused",
      redelivers: "always",
      ...defineFactory({ options: none, create: () => receiver }),
    },
    sender: { needsSession: false, ...defineFactory({ options: none, create: () => sender }) },
  };
}
