import { describe, expect, test } from "vitest";
import { openLog } from "../src/log.ts";
import { watchProcess } from "../src/watch-process.ts";
import { StandIn } from "./stand-in.ts";

function watched() {
  const host = new StandIn();
  const logger = openLog(host.process.stderr, "info");
  return { host, watch: watchProcess(host.process, () => logger) };
}

describe("signals", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("spec 3.1: %s asks the process to end", async (signal) => {
    const { host, watch } = watched();
    host.emit(signal, signal);
    await expect(watch.asked).resolves.toBe(signal);
    expect(host.exits).toEqual([]);
  });

  test.each([
    ["SIGINT", "SIGINT"],
    ["SIGTERM", "SIGINT"],
    ["SIGTERM", "SIGTERM"],
  ])("spec 3.4: %s, then %s: exit 2 at once", (first, second) => {
    const { host } = watched();
    host.emit(first, first);
    host.emit(second, second);
    expect(host.exits).toEqual([2]);
    expect(host.log.at(-1)).toMatchObject({ level: "warn", signal: second });
  });

  test("SIGHUP neither ends the process nor counts as a first signal", () => {
    const { host } = watched();
    host.emit("SIGHUP", "SIGHUP");
    host.emit("SIGTERM", "SIGTERM");
    expect(host.exits).toEqual([]);
    expect(host.log).toHaveLength(1);
  });

  test("SIGHUP asks for a reload, also one that came before anybody could reload", () => {
    const { host, watch } = watched();
    let reloads = 0;
    host.emit("SIGHUP", "SIGHUP");
    host.emit("SIGHUP", "SIGHUP");
    watch.onReload(() => void reloads++);
    expect(reloads).toBe(1);
    host.emit("SIGHUP", "SIGHUP");
    expect(reloads).toBe(2);
  });

  test.each([
    [new Error("bad"), "bad"],
    [undefined, "undefined"],
    ["words", "words"],
  ])("an uncaught %j is logged and ends the process with 1", (thrown, message) => {
    const { host } = watched();
    host.emit("uncaughtException", thrown);
    expect(host.exits).toEqual([1]);
    expect(host.log).toEqual([expect.objectContaining({ level: "error", error: message })]);
  });

  test("losing the reader of the log changes nothing", () => {
    const { host } = watched();
    host.stderr.emit("error", new Error("EPIPE"));
    expect(host.exits).toEqual([]);
  });

  test("disposed, it leaves nothing behind", () => {
    const { host, watch } = watched();
    watch[Symbol.dispose]();
    expect(host.eventNames()).toEqual([]);
    expect(host.stderr.eventNames()).toEqual([]);
  });
});
