import { expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { twoRoutes, withAttempts } from "../support/two-routes.ts";

test.each([
  { deliveryMode: "direct_hold", session: false },
  { deliveryMode: "direct_hold", session: true },
  { deliveryMode: "shared_outbox", session: true },
] as const)(
  "a route reloaded 100 times under traffic ($deliveryMode, session: $session): each message arrives once, and the other route never stands still",
  async ({ deliveryMode, session }) => {
    const { hub, clock, supervisor, config } = twoRoutes({ deliveryMode, session, quiesceTimeoutMs: 10_000 });
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    let published = 0;
    for (let reload = 1; reload <= 100; reload++) {
      const applied = supervisor.apply(withAttempts(config, "r", 5 + reload), bound());
      do {
        const before = hub.channel("in2").accepted;
        for (const channel of ["in", "in2"]) hub.publish(channel, { id: `${channel}-${published}` });
        published++;
        await clock.advance(1);
        if (deliveryMode === "direct_hold") expect(hub.channel("in2").accepted).toBe(before + 1);
      } while (supervisor.state().kind === "swapping");
      expect(await applied).toBe("applied");
      expect(supervisor.stats().unaccounted).toBe(0);
    }
    await clock.until(() => hub.channel("out").messages().length >= published);
    await clock.until(() => hub.channel("out2").messages().length >= published);
    await turn();
    for (const [from, to] of [
      ["in", "out"],
      ["in2", "out2"],
    ] as const) {
      const wanted = Array.from({ length: published }, (_, index) => `${from}-${index}`);
      const got = new Set(
        hub
          .channel(to)
          .messages()
          .map(({ id }) => id),
      );
      expect(hub.channel(to).messages()).toHaveLength(published);
      expect(got).toEqual(new Set(wanted));
    }
    if (session) expect(hub.link("s", "source").connections).toBe(1);
    const { legs } = supervisor.stats();
    expect(legs.reduce((sum, leg) => sum + leg.dispositions.abandoned, 0)).toBe(0);
    await supervisor.shutdown();
    expect(clock.pending).toBe(0);
  },
);
