import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRfc3339 } from "../src/rfc3339.ts";

describe("spec 4.3: RFC 3339 timestamps", () => {
  it("reads what the platform writes, at any offset", () => {
    const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("9998-12-31T00:00:00Z") });
    const offset = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
    fc.assert(
      fc.property(time, offset, (date, minutes) => {
        expect(parseRfc3339(date.toISOString())).toBe(date.getTime());
        const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const [hour, minute] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const zone = `${minutes < 0 ? "-" : "+"}${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
        expect(parseRfc3339(local + zone)).toBe(date.getTime());
      }),
    );
  });

  it.each([
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["0001-01-01T00:00:00Z", Date.parse("0001-01-01T00:00:00Z")],
    ["2026-01-01t00:00:00z", Date.UTC(2026, 0, 1)],
    ["2026-01-01 00:00:00Z", Date.UTC(2026, 0, 1)],
    ["2026-01-01T00:00:00.5Z", Date.UTC(2026, 0, 1) + 500],
    ["2026-01-01T00:00:00.0000001Z", Date.UTC(2026, 0, 1) + 1],
  ])("%s is %i", (text, epochMs) => {
    expect(parseRfc3339(text)).toBe(epochMs);
  });

  it.each([
    "2025-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00.Z",
    "+002026-01-01T00:00:00Z",
    " 2026-01-01T00:00:00Z",
  ])("%s is none", (text) => {
    expect(parseRfc3339(text)).toBeUndefined();
  });
});
