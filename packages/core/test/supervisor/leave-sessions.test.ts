import type { BridgeConfig } from "@bridge/config";
import { BridgeError, type LeftSessionContext, type Logger, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** A bridge on sessions that a broker keeps, and what is heard of those that are gone. */
function bridge(leave: (context: LeftSessionContext) => Promise<boolean> = async () => true) {
  const left: LeftSessionContext[] = [];
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const logger: Logger = { ...silentLogger, info: at("info"), warn: at("warn"), child: () => logger };
  const { supervisor, config } = memoryBridge({
    session: true,
    logger,
    transports: (memory) => [
      {
        ...memory,
        type: "kept",
        session: {
          ...memory.session!,
          identities: (options, { id }) => [(options as { name?: string }).name ?? id],
          leave: (_, context) => {
            left.push(context);
            return leave(context);
          },
        },
      },
    ],
    config: (plain) => ({
      ...plain,
      sessions: plain.sessions.map((session) => ({ ...session, transport: "kept" })),
      receivers: plain.receivers.map((part) => ({ ...part, transport: "kept", topics: [{ topic: "a/#", qos: 1 }] })),
      senders: plain.senders.map((part) => ({ ...part, transport: "kept" })),
    }),
  });
  return { supervisor, config, left, gone: () => lines.filter((line) => line.includes("a session is gone")) };
}

/** The same with another id of the session, known at the broker as `name`. */
function renamed(config: BridgeConfig, name: string | undefined): BridgeConfig {
  return {
    ...config,
    configVersion: config.configVersion + 1,
    sessions: config.sessions.map((session) => ({ ...session, id: "t", options: { name } })),
    receivers: config.receivers.map((part) => ({ ...part, sessionId: "t" })),
    senders: config.senders.map((part) => ({ ...part, sessionId: "t" })),
    bindings: config.bindings.map((part) => ({ ...part, sessionId: "t" })),
  };
}

test("finding 4.4: what a broker keeps for a session that a change has removed is ended, once the new parts are at work", async () => {
  const states: string[] = [];
  const { supervisor, config, left, gone } = bridge(async () => states.push(supervisor.view().state) > 0);
  await supervisor.start(bound());
  expect(await supervisor.apply(renamed(config, undefined), bound())).toBe("applied");
  expect(left).toMatchObject([{ id: "s", role: "source", topics: [{ topic: "a/#" }] }]);
  expect(states).toEqual(["running"]);
  expect(gone()).toEqual(["info: a session is gone, and the broker has ended what it kept for it"]);
  await supervisor.shutdown();
  expect(left).toHaveLength(1);
});

test("finding 4.4: a session that another one goes on with at the broker is not ended", async () => {
  const { supervisor, config, left } = bridge();
  await supervisor.start(bound());
  expect(await supervisor.apply(renamed(config, "s"), bound())).toBe("applied");
  await supervisor.shutdown();
  expect(left).toEqual([]);
});

test("finding 4.4: a change that is refused leaves no session", async () => {
  const { supervisor, config, left } = bridge();
  await supervisor.start(bound());
  const broken = { ...renamed(config, undefined), senders: [] };
  await expect(supervisor.apply(broken, bound())).rejects.toThrow("no sender");
  await supervisor.shutdown();
  expect(left).toEqual([]);
});

test("finding 4.4: when the broker holds messages, or is away, the change stands and the log says what to do", async () => {
  const answers = [async () => false, () => Promise.reject(new BridgeError("UNAVAILABLE", "away"))];
  for (const answer of answers) {
    const { supervisor, config, gone } = bridge(answer);
    await supervisor.start(bound());
    expect(await supervisor.apply(renamed(config, undefined), bound())).toBe("applied");
    expect(gone()).toEqual([expect.stringMatching(/^warn: .* the broker (holds messages|may keep)/)]);
    await supervisor.shutdown();
  }
});
