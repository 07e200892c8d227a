import { type BridgeConfig, type ConfigApplier, emptyConfig } from "@bridge/config";
import { expect, test } from "vitest";
import { type Overrule, overruling } from "../src/overrule.ts";

const NEVER = new AbortController().signal;

/** In a process that keeps its outbox where it says. */
const overrule: Overrule = (config) => ({
  config: { ...config, stores: { outbox: { type: "file", reach: "instance", options: { path: "ours" } } } },
  warnings: [],
});

test("what is stored is overruled as what is to come is, and so has its stores where this process has them", async () => {
  const asked: (BridgeConfig | undefined)[] = [];
  const applier: Pick<ConfigApplier, "stranding"> = {
    stranding: async (to, _, stored) => {
      asked.push(to, stored);
      return undefined;
    },
  };
  const overruled = overruling(applier as ConfigApplier, overrule);
  const [to, stored] = [emptyConfig(), { ...emptyConfig(), configVersion: 7 }];
  await overruled.stranding(to, NEVER, stored);
  await overruled.stranding(to, NEVER);
  const [ours, oursStored] = [overrule(to).config, overrule(stored).config];
  expect(asked).toEqual([ours, oursStored, ours, undefined]);
});
