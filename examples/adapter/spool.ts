import { addressedSender, type ReceiverDefinition, type TargetDefinition, type TransportMaker } from "@bridge/ports";
import type * as v from "valibot";
import { type receiverOptions, spoolTransport } from "./spool-transport.ts";

type ReceiverOptions = v.InferInput<typeof receiverOptions>;

/** The transport `spool`, for definitions in code and for registries. */
export const spool = {
  type: "spool",
  plugin: () => spoolTransport,
  /** Takes messages from a folder: for `from`. */
  folder(folder: string, options: Omit<ReceiverOptions, "folder"> = {}): ReceiverDefinition {
    return { kind: "receiver", transport: spool, options: { ...options, folder } };
  },
  /** Writes messages into a folder of `below`: for `to`. */
  at(below: string, address: string): TargetDefinition {
    return addressedSender({ transport: spool }, { folder: below }).at(address);
  },
} satisfies TransportMaker & Readonly<Record<string, unknown>>;
