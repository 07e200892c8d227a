import { defineFactory, type ReceiverContext, type SenderContext, type TransportPlugin } from "@bridge/ports";
import { describe, positiveDuration, text } from "@bridge/ports/options";
import * as v from "valibot";
import { SpoolReceiver } from "./spool-receiver.ts";
import { SpoolSender } from "./spool-sender.ts";

export const receiverOptions = v.strictObject({
  folder: describe(text(), "The folder that messages are taken from; made when it is not there."),
  poll_interval: describe(v.optional(positiveDuration(), "200ms"), "How often an empty folder is looked at."),
});

const senderOptions = v.strictObject({
  folder: describe(text(), "The folder below which addresses are folders. Those have to be there."),
});

/** The transport `spool`: messages as files in folders. */
export const spoolTransport: TransportPlugin = {
  type: "spool",
  receiver: {
    needsSession: false,
    topics: "refused",
    redelivers: "always",
    ...defineFactory({
      options: receiverOptions,
      create: ({ folder, poll_interval }, { clock }: ReceiverContext) =>
        new SpoolReceiver(folder, poll_interval, clock),
    }),
  },
  sender: {
    needsSession: false,
    ...defineFactory({
      options: senderOptions,
      create: ({ folder }, { clock, random }: SenderContext) => new SpoolSender(folder, clock, random),
    }),
  },
};
