import { isIPv6 } from "node:net";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientOf, displayAddress } from "../src/client-address.ts";

describe("contract 3: what counts as one client", () => {
  it.each([
    ["10.1.2.3", "10.1.2.3"],
    ["unknown", "unknown"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["64:ff9b:1::10.0.0.1", "64:ff9b:1:0::/64"],
  ])("%s is %s", (peer, client) => {
    expect(clientOf(peer)).toBe(client);
  });

  it("any spelling of two IPv6 addresses is one client exactly if their first 64 bits agree", () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, groups, fc.boolean(), (a, b, same) => {
        const other = same ? [...a.slice(0, 4), ...b.slice(4)] : b;
        const agree = a.slice(0, 4).join() === other.slice(0, 4).join();
        const [long, short] = [a, other].map((address) => address.map((group) => group.toString(16)).join(":"));
        // The platform's own URL parser shortens the longest run of zeros.
        const shortened = new URL(`http://[${short}]`).hostname.slice(1, -1);
        expect(isIPv6(shortened)).toBe(true);
        expect(clientOf(shortened) === clientOf(long ?? "")).toBe(agree);
      }),
    );
  });
});

describe("spec 6: client_addr", () => {
  it.each([
    ["203.0.113.9, 10.0.0.1", "203.0.113.9"],
    [" 2001:db8::1 ", "2001:db8::1"],
    ["[2001:db8::1]:443", "[2001:db8::1]:443"],
    ["", "10.0.0.7"],
    ["<script>", "10.0.0.7"],
    ["a".repeat(65), "10.0.0.7"],
    [", 10.0.0.1", "10.0.0.7"],
  ])("X-Forwarded-For %j gives %s", (forwarded, shown) => {
    expect(displayAddress(new Headers({ "X-Forwarded-For": forwarded }), "10.0.0.7")).toBe(shown);
  });

  it("without X-Forwarded-For it is the peer", () => {
    expect(displayAddress(new Headers(), "10.0.0.7")).toBe("10.0.0.7");
  });
});
