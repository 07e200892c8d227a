import type { ProgressChange, StateChange } from "@bridge/core";
import { beforeEach, describe, expect, test } from "vitest";
import { draw } from "../src/plan/draw.ts";
import type { Auditor } from "../src/run/auditor.ts";
import { HookBooks } from "../src/run/hook-books.ts";
import { muteAuditor } from "./support/mute-auditor.ts";

let violations: string[];
let lost: number;
let books: HookBooks;

beforeEach(() => {
  [violations, lost] = [[], 0];
  const violated = (words: string): void => void violations.push(words);
  const auditor = new Proxy(muteAuditor, {
    get: (mute, name: keyof Auditor) => (name === "violated" ? violated : mute[name]),
  });
  books = new HookBooks({ auditor, plan: draw(1) }, { name: "one", alive: true, pending: 0 }, () => lost);
});

const progress = (from: ProgressChange["from"], to: ProgressChange["to"], route = "r"): void =>
  books.progress({ route, from, to, at: 0 });
const state = (from: StateChange["from"], to: StateChange["to"]): void => books.state({ from, to, at: 0 });

describe("a hook is told", () => {
  test("of each progress after the one before", () => {
    progress("idle", "moving");
    progress("moving", "waiting");
    expect(violations).toEqual([]);
    progress("moving", "waiting");
    expect(violations).toEqual(["onProgress of one is told that r was moving, and was told that it is waiting"]);
  });

  test("of each state after the one before", () => {
    state("unwired", "starting");
    expect(violations).toEqual([]);
    state("running", "stopping");
    expect(violations).toEqual(["onState of one is told of stopping after running, and was told of starting"]);
  });
});

describe("what was lost", () => {
  test("may have been the progress of any route, or a state, in between", () => {
    progress("idle", "waiting", "r");
    progress("idle", "waiting", "other");
    state("unwired", "starting");
    lost = 3;
    progress("moving", "waiting", "r");
    progress("moving", "waiting", "other");
    state("running", "stopping");
    expect(violations).toEqual([]);
  });

  test("explains nothing that was told after it, and nothing in the event itself", () => {
    progress("idle", "waiting");
    lost = 1;
    progress("moving", "waiting");
    progress("moving", "stalled");
    expect(violations).toEqual(["onProgress of one is told that r was moving, and was told that it is waiting"]);
    lost = 2;
    progress("stalled", "stalled");
    expect(violations.at(-1)).toBe("onProgress of one is told that r is stalled as before");
  });
});
