import { expect, test } from "vitest";
import { WayIn } from "../../src/route/lane-sources.ts";
import type { RouteParts } from "../../src/route/route-parts.ts";

test.each([
  ["no limit holds anything up", [false, false], false, false],
  ["that of one binding does", [false, true], false, true],
  ["that of the route does", [false, false], true, true],
])("the way in is limited by rates: %s", (_, bindings, route, limited) => {
  const targets = new Map(bindings.map((limiting, index) => [`b${index}`, { rate: { limiting } }]));
  const parts = { targets, control: { rate: { limiting: route } } } as unknown as RouteParts;
  expect(new WayIn(parts).limited).toBe(limited);
});
