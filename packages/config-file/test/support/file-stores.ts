import { createRegistry, namedStores } from "@bridge/config";
import { defineFactory, systemClock } from "@bridge/ports";
import { duration } from "@bridge/ports/options";
import * as v from "valibot";

const never = (): never => {
  throw new Error("nothing is opened here");
};

const file = {
  type: "file",
  reach: "instance" as const,
  place: (options: unknown) => (options as { readonly path: string }).path,
  ...defineFactory({ options: v.strictObject({ path: v.string(), retention: v.optional(duration()) }), create: never }),
};

const memory = {
  type: "memory",
  reach: "process" as const,
  ...defineFactory({ options: v.strictObject({ acknowledge_volatile: v.literal(true) }), create: never }),
};

/** Outboxes and DLQs in files, and in memory. */
export const registry = createRegistry({ outboxStores: [file, memory], dlqStores: [file, memory] });

export const sources = { env: () => undefined, file: () => Promise.reject(new Error("it is not there")) };

export const storesOf = namedStores({ registry, sources, clock: systemClock });
