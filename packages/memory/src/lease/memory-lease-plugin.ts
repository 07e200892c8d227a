import { defineFactory, type LeaseStorePlugin } from "@bridge/ports";
import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";
import { openMemoryLeases } from "./open-memory-leases.ts";

const options = v.strictObject({
  acknowledge_volatile: describe(
    v.literal(
      true,
      "the memory lease store is seen by one process only and forgets on restart: set acknowledge_volatile: true to accept that",
    ),
    "Must be true: you accept leases that no other process sees.",
  ),
  name: describe(v.optional(text(), "default"), "Bridges in one process with the same name share their leases."),
});

/** The lease store `memory`. */
export const memoryLeasePlugin: LeaseStorePlugin = {
  type: "memory",
  role: "lease",
  reach: "process",
  ...defineFactory({
    options,
    create:
      ({ name }) =>
      async () =>
        openMemoryLeases({ name }),
  }),
};
