import { describe, expect, it } from "vitest";
import { parseFlags } from "../src/flags.ts";
import { PAIRS } from "../src/pair.ts";
import { remaining } from "../src/run/results.ts";
import { rowName } from "../src/run/row.ts";
import { rows } from "../src/run/rows.ts";
import { row } from "./support/results.ts";

const plan = (...args: readonly string[]) => rows(parseFlags(args).selection);
const names = (...args: readonly string[]) => plan(...args).map(rowName);

describe("rows", () => {
  it("are all pairs at one size and window by default, and one of them with a slow link", () => {
    const slow = ["mqtt-mqtt, 256 B, window 1, 20 ms away", "mqtt-mqtt, 256 B, window 256, 20 ms away"];
    expect(names()).toEqual([...PAIRS.map((pair) => `${pair}, 256 B, window 100`), ...slow]);
  });

  it("have everything with --all, as far as nothing else is said", () => {
    expect(names("--all")).toHaveLength(PAIRS.length * (2 * 3 + 2));
    expect(names("--all", "--sizes", "256", "--delay", "none")).toHaveLength(PAIRS.length * 3);
    expect(
      plan("--all")
        .filter(({ delayMs }) => delayMs === 0)
        .every(({ contenders }) => contenders.includes("shared_outbox")),
    ).toBe(true);
  });

  it("have peers where they can carry, and an outbox where it has a bar or was chosen", () => {
    const contenders = new Map(plan().map((each) => [rowName(each), each.contenders]));
    expect(contenders.get("mqtt-mqtt, 256 B, window 100")).toEqual(["script", "direct_hold", "mosquitto", "node-red"]);
    expect(contenders.get("amqp-amqp, 256 B, window 100")).toEqual([
      "script",
      "direct_hold",
      "shared_outbox",
      "shovel",
    ]);
    expect(plan("--pairs", "http-http", "--peers", "none")[0]?.contenders).toEqual([
      "script",
      "direct_hold",
      "shared_outbox",
    ]);
    expect(plan("--pairs", "mqtt-mqtt", "--modes", "direct_hold", "--peers", "shovel")[0]?.contenders).toEqual([
      "script",
      "direct_hold",
    ]);
  });
});

describe("remaining", () => {
  it("leaves out what was measured by every contender in every round", () => {
    const [first, second] = plan(
      "--pairs",
      "mqtt-mqtt",
      "--windows",
      "100,500",
      "--modes",
      "direct_hold",
      "--peers",
      "none",
      "--delay",
      "none",
    );
    const all = [first!, second!];
    expect(remaining(all, [row({ script: {}, direct_hold: {} })], 3)).toEqual([second]);
    expect(remaining(all, [row({ script: {}, direct_hold: {} })], 4)).toEqual(all);
    expect(remaining(all, [row({ script: {} })], 3)).toEqual(all);
  });
});

describe("flags", () => {
  it("say what is wrong with them", () => {
    expect(() => parseFlags(["--pairs", "mqtt-carrier-pigeon"])).toThrow(
      /--pairs: "mqtt-carrier-pigeon" is none of mqtt-mqtt/,
    );
    expect(() => parseFlags(["--sizes", "4"])).toThrow(/--sizes: "4" is not an integer of at least 13/);
    expect(() => parseFlags(["--peers", "kafka"])).toThrow(/--peers/);
  });
});
