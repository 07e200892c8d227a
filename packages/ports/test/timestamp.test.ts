import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatTimestamp, parseTimestamp } from "../src/timestamp.ts";

describe("RFC 3339 timestamps", () => {
  test.for([
    ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000Z"],
    ["2026-01-31t09:30:00z", "2026-01-31T09:30:00.000Z"],
    ["2026-01-31T09:30:00.1239Z", "2026-01-31T09:30:00.123Z"],
    ["2026-01-31T09:30:00+05:45", "2026-01-31T03:45:00.000Z"],
    ["2026-01-31T23:30:00-01:30", "2026-02-01T01:00:00.000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["0099-03-01T00:00:00Z", "0099-03-01T00:00:00.000Z"],
  ])("%s is %s", ([text = "", iso = ""]) => {
    expect(parseTimestamp(text)).toBe(Date.parse(iso));
  });

  test.for([
    [0, "1970-01-01T00:00:00.000Z"],
    [Number.MAX_SAFE_INTEGER, "9999-12-31T23:59:59.999Z"],
    [Infinity, "9999-12-31T23:59:59.999Z"],
    [-Infinity, "0000-01-01T00:00:00.000Z"],
    [NaN, "0000-01-01T00:00:00.000Z"],
  ] as const)("%d is told as %s", ([ms, text]) => {
    expect(formatTimestamp(ms)).toBe(text);
  });

  test("are told as the platform does, whatever was told before", () => {
    const moment = fc.double({ min: -5_000, max: 5_000, noNaN: true });
    fc.assert(
      fc.property(moment, (ms) => {
        expect(formatTimestamp(ms)).toBe(new Date(ms).toISOString());
      }),
    );
  });

  test.for([
    "",
    "2026-01-31",
    "2026-01-31T09:30Z",
    "2026-01-31T09:30:00",
    "2026-01-31 09:30:00Z",
    "2026-1-31T09:30:00Z",
    "2025-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T09:60:00Z",
    "2026-01-31T09:30:61Z",
    "2026-01-31T09:30:00+24:00",
    "2026-01-31T09:30:00.Z",
    "+002026-01-31T09:30:00Z",
    " 2026-01-31T09:30:00Z",
  ])("%j is none", (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  test("every time that a date can be written as comes back", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true }),
        (date) => {
          expect(parseTimestamp(date.toISOString())).toBe(date.getTime());
        },
      ),
    );
  });
});
