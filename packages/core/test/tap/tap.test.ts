import type { Envelope } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, it } from "vitest";
import type { SettledMessage, TapOptions } from "../../src/tap/tap.ts";
import { TapShare } from "../../src/tap/tap-share.ts";
import { RouteTaps, Taps } from "../../src/tap/taps.ts";
import { cost } from "./cost.ts";

function envelope(id: string, changes: Partial<Envelope> = {}): Envelope {
  return {
    id,
    sourceId: "in",
    subject: "boiler/7",
    contentType: "",
    headers: {},
    payload: new Uint8Array(10),
    correlationId: id,
    receivedAt: 0,
    ...changes,
  };
}

function watched(options: TapOptions = {}) {
  const clock = new ManualClock();
  const taps = new RouteTaps(clock, new TapShare());
  const tap = taps.open(options);
  let n = 0;
  return {
    clock,
    taps,
    tap,
    settle: (count: number, changes: Partial<Envelope> = {}, outcome: SettledMessage["outcome"] = "delivered") => {
      for (let more = 0; more < count; more++)
        taps.settled({ received: envelope(`m-${n++}`, changes), outcome, legs: [], ms: 1 }, clock.monotonic());
    },
    /** What has come, once enough time has passed for it. */
    taken: async () => {
      const taking = tap.next(new AbortController().signal);
      for (let turn = 0; turn < 5; turn++) await clock.pass(50);
      return taking;
    },
  };
}

describe("operators 6.3: what a route shows", () => {
  it("costs one look while nobody watches", () => {
    const taps = new Taps(new ManualClock()).of("orders");
    expect(taps.watched).toBe(false);
    const one = taps.open({});
    const other = taps.open({});
    expect(taps.watched).toBe(true);
    one[Symbol.dispose]();
    expect(taps.watched).toBe(true);
    other[Symbol.dispose]();
    other[Symbol.dispose]();
    expect(taps.watched).toBe(false);
  });

  it("is at most 200 messages for one who does not take them, the rest is counted, and nothing waits", async () => {
    const { settle, taken, tap } = watched({ rate: 500 });
    settle(1_000);
    expect((await taken())?.messages).toHaveLength(200);
    expect([tap.shown, tap.lost]).toEqual([200, 800]);
  });

  it("is at most 2 MiB of headers and payloads", async () => {
    const { settle, taken, tap } = watched({ rate: 500, payload: "full" });
    settle(100, { payload: new Uint8Array(1_000_000), headers: { wide: "x".repeat(1_000) } });
    const messages = (await taken())?.messages ?? [];
    expect(messages).toHaveLength(Math.floor((2 * 1_048_576) / (65_536 + 1_004)));
    expect(tap.lost).toBe(100 - messages.length);
    for (const { payload } of messages) expect([payload?.length, payload?.buffer.byteLength]).toEqual([65_536, 65_536]);
  });

  it("comes to each of those who look on at a time of its own, though they began at once and the message is one", async () => {
    const clock = new ManualClock();
    const all = new Taps(clock);
    const taps = Array.from({ length: 8 }, (_, n) => all.of(`route-${n % 2}`).open({}));
    const { signal } = new AbortController();
    const heard: number[] = [];
    const listening = taps.map((tap) => tap.next(signal).then(() => heard.push(clock.monotonic())));
    for (const n of [0, 1])
      all.of(`route-${n}`).settled({ received: envelope("m-0"), outcome: "delivered", legs: [], ms: 1 }, 0);
    for (let ms = 0; ms <= 210; ms++) await clock.pass(1);
    await Promise.all(listening);
    const gaps = heard.slice(1).map((at, n) => at - (heard[n] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(10);
    expect(heard.at(-1)).toBeLessThanOrEqual(201);
  });

  // Making the text of it has half of the tenth of the event loop that it may cost: to write it takes about as long.
  it("costs all who look on a twentieth of the time, however much they are shown, and one who is shown little loses nothing by that", async () => {
    const clock = new ManualClock();
    const taps = new Taps(clock);
    const costs = [0.005, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 1];
    const leaving = new AbortController();
    const looks = costs.map((costMs, n) => ({ costMs, tap: taps.of(`route-${n}`).open({ rate: 500 }), tookMs: 0 }));
    const looking = looks.map(async (look) => {
      for (;;) {
        const batch = await look.tap.next(leaving.signal);
        if (batch === undefined) return;
        const tookMs = batch.messages.length * look.costMs;
        look.tookMs += tookMs;
        look.tap.used(cost(tookMs));
      }
    });
    for (let ms = 0; ms < 20_000; ms += 10) {
      for (const n of costs.keys())
        taps
          .of(`route-${n}`)
          .settled({ received: envelope(`m-${ms}-${n}`), outcome: "delivered", legs: [], ms: 1 }, clock.monotonic());
      await clock.pass(10);
    }
    leaving.abort();
    await Promise.all(looking);
    const allMs = looks.reduce((sum, { tookMs }) => sum + tookMs, 0);
    // Each is ahead by what it was shown last.
    expect(allMs).toBeLessThanOrEqual(20_000 / 20 + costs.length * 5);
    expect(looks.map(({ tap }) => tap.lost > 0)).toEqual([false, true, true, true, true, true, true, true]);
    for (const { tap } of looks) expect(tap.shown).toBeGreaterThan(0);
  });

  it("leaves nothing out for one who is shown little when something of it took long by chance", async () => {
    const { clock, tap, taps, settle } = watched({ durationMs: 20_000 });
    using _ = taps.open({});
    const reading = (async () => {
      const { signal } = new AbortController();
      for (let at = 1; (await tap.next(signal)) !== undefined; at++) tap.used(cost(at % 25 === 0 ? 20 : 0.1));
    })();
    for (let at = 0; at < 100; at++) {
      await clock.pass(200);
      settle(10);
    }
    await clock.pass(0);
    await reading;
    expect([tap.shown, tap.lost]).toEqual([990, 0]);
  });

  it("is five messages a second in any case, whatever they cost", async () => {
    const { clock, tap, settle } = watched({ durationMs: 60_000 });
    const reading = (async () => {
      for (const { signal } = new AbortController(); (await tap.next(signal)) !== undefined;) tap.used(cost(10_000));
    })();
    for (let at = 0; at < 300; at++) {
      await clock.pass(200);
      settle(1);
    }
    await clock.pass(0);
    await reading;
    expect([tap.shown, tap.lost]).toEqual([299, 0]);
  });

  it("keeps all again once the rest is over, however little was kept in it", async () => {
    const { clock, tap, settle, taken } = watched({ rate: 500 });
    settle(1);
    await taken();
    tap.used(cost(1_000));
    settle(100);
    expect(tap.lost).toBe(75);
    await clock.pass(60_000);
    settle(100);
    expect((await taken())?.messages).toHaveLength(125);
  });

  it("rests no longer than it lasts, so that it ends when its time is over", async () => {
    const { clock, settle, taken, tap } = watched({ durationMs: 1_000 });
    settle(1);
    await taken();
    tap.used(cost(1_000));
    settle(1);
    const last = tap.next(new AbortController().signal);
    await clock.pass(1_000);
    expect((await last)?.messages).toHaveLength(1);
    expect(await tap.next(new AbortController().signal)).toBeUndefined();
  });

  it("is handed over once, though a timer fires a moment early", async () => {
    const { clock, tap, settle } = watched();
    await clock.pass(199);
    settle(1);
    let handedOver = false;
    const taking = tap.next(new AbortController().signal).then(() => (handedOver = true));
    await clock.pass(1);
    expect(handedOver).toBe(false);
    await clock.pass(200);
    expect(handedOver).toBe(true);
    await taking;
  });

  it("is handed over sooner as long as it is large, as there is room for few: at the highest rate none is lost", async () => {
    const { clock, taps, settle, tap } = watched({ rate: 500, payload: "full" });
    const sizes: number[] = [];
    const reading = (async () => {
      const { signal } = new AbortController();
      for (let batch = await tap.next(signal); batch !== undefined; batch = await tap.next(signal))
        sizes.push(batch.messages.length);
    })();
    const large = { payload: new Uint8Array(65_536) };
    const come = async (changes: Partial<Envelope>): Promise<void> => {
      for (let at = 0; at < 100; at++) {
        settle(1, changes);
        await clock.pass(10);
      }
    };
    await come(large);
    await come({});
    taps.end();
    await reading;
    expect(tap.lost).toBe(0);
    expect(sizes.slice(0, 4)).toEqual([20, 5, 5, 5]);
    expect(sizes.at(-1)).toBe(20);
  });

  it("is a copy: whoever made a message may use its memory for the next", async () => {
    const { settle, taken } = watched({ payload: "preview" });
    const payload = Buffer.alloc(100_000, "a");
    settle(1, { payload });
    payload.fill("b");
    const [shown] = (await taken())?.messages ?? [];
    expect(Buffer.from(shown?.payload ?? []).toString()).toBe("a".repeat(1_024));
    expect(shown?.payload?.buffer).not.toBe(payload.buffer);
  });

  it("is no more than its rate, of a burst a second's worth", async () => {
    const { clock, settle, taken, tap } = watched({ rate: 10 });
    settle(100);
    expect((await taken())?.messages).toHaveLength(10);
    let shown = 0;
    for (let second = 0; second < 10; second++) {
      await clock.pass(750);
      settle(100);
      shown += (await taken())?.messages.length ?? 0;
    }
    expect(shown).toBeGreaterThanOrEqual(98);
    expect(shown).toBeLessThanOrEqual(101);
    expect(tap.shown + tap.lost).toBe(1_100);
  });

  it("tells what is lost at most once a second, and what nobody was told at the end", async () => {
    const { clock, settle, tap } = watched({ rate: 1, durationMs: 5_000 });
    settle(10);
    const told: number[] = [];
    const reading = (async () => {
      for (;;) {
        const batch = await tap.next(new AbortController().signal);
        if (batch === undefined) return;
        if (batch.lost > 0) told.push(batch.lost);
      }
    })();
    for (let step = 0; step < 100; step++) {
      await clock.pass(50);
      settle(1);
    }
    for (let step = 0; step < 5; step++) await clock.pass(50);
    await reading;
    expect(told.length).toBeLessThanOrEqual(6);
    expect(told.reduce((sum, lost) => sum + lost, 0) + tap.shown).toBeGreaterThanOrEqual(109);
  });

  it("is nothing of what came after its time, so that one who is slow hears that it is over, too", async () => {
    const { clock, settle, taken, tap } = watched({ rate: 1, durationMs: 1_000 });
    settle(3);
    await clock.pass(1_000);
    settle(3);
    expect(await taken()).toMatchObject({ messages: [{ envelopeId: "m-0" }], lost: 2 });
    for (let late = 0; late < 2; late++) {
      settle(3);
      await clock.pass(1_500);
      expect(await taken()).toBeUndefined();
    }
    expect([tap.shown, tap.lost]).toEqual([1, 2]);
  });

  it("ends when its time is over, when it is given up or closed, whatever there was to tell, and when its route is gone", async () => {
    const signal = new AbortController();
    const { clock, tap } = watched({ durationMs: 1_000 });
    const ending = tap.next(signal.signal);
    for (let step = 0; step < 30; step++) await clock.pass(50);
    expect(await ending).toBeUndefined();
    const other = watched();
    const given = other.tap.next(signal.signal);
    await other.clock.pass(50);
    signal.abort();
    expect(await given).toBeUndefined();
    const closed = watched({ rate: 1 });
    closed.settle(3);
    await closed.clock.pass(1_000);
    const closing = closed.tap.next(new AbortController().signal);
    closed.tap[Symbol.dispose]();
    await closed.clock.pass(200);
    expect(await closing).toBeUndefined();
    const third = watched();
    const gone = third.tap.next(new AbortController().signal);
    third.taps.end();
    expect([await gone, third.taps.watched]).toEqual([undefined, false]);
  });
});
