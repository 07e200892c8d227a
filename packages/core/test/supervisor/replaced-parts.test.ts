import { queryObjects } from "node:v8";
import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { Route } from "../../src/route/route.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

const CHANGES = 20;

test("what changes have replaced is not kept, whatever its sessions remember of their end", async () => {
  const { supervisor, config } = memoryBridge({
    session: true,
    transports: (memory) => [
      {
        ...memory,
        type: "remembering",
        session: {
          ...memory.session!,
          // As sessions of brokers do: waits are refused with what ended it.
          create(options, context) {
            const session = memory.session!.create(options, context);
            const over = new AbortController();
            const end = session[Symbol.asyncDispose].bind(session);
            return Object.assign(session, {
              over,
              [Symbol.asyncDispose]() {
                over.abort(new BridgeError("CONNECTION_LOST", "the session is disposed"));
                return end();
              },
            });
          },
        },
      },
    ],
    config: (plain) => ({
      ...plain,
      sessions: plain.sessions.map((session) => ({ ...session, transport: "remembering" })),
      receivers: plain.receivers.map((part) => ({ ...part, transport: "remembering" })),
      senders: plain.senders.map((part) => ({ ...part, transport: "remembering" })),
    }),
  });
  await supervisor.start(bound());
  const before = queryObjects(Route, { format: "count" });
  for (let change = 1; change <= CHANGES; change++) {
    const sessions = config.sessions.map((session) => ({ ...session, options: { change } }));
    expect(await supervisor.apply({ ...config, configVersion: change + 1, sessions }, bound())).toBe("applied");
  }
  expect(queryObjects(Route, { format: "count" })).toBeLessThanOrEqual(before + 2);
  await supervisor.shutdown();
});
