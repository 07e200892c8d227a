import { BlockList, isIPv4 } from "node:net";
import { text } from "@bridge/ports/options";
import * as v from "valibot";

const PRIVATE = [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const;

/** Who may connect: a security group (`sg-…`), or a private IPv4 network such as `10.0.0.0/16`. */
export function peer() {
  return v.pipe(
    text(),
    v.check(
      (written) => /^sg-[0-9a-f]{8,17}$/.test(written) || isPrivateNetwork(written),
      "expected a security group (sg-…) or a private network such as 10.0.0.0/16: the servers are not for the public",
    ),
  );
}

function isPrivateNetwork(written: string): boolean {
  const [address = "", length = ""] = written.split("/");
  if (!isIPv4(address) || !/^\d{1,2}$/.test(length) || Number(length) > 32) return false;
  return PRIVATE.some(([start, shortest]) => {
    const range = new BlockList();
    range.addSubnet(start, shortest);
    return Number(length) >= shortest && range.check(address);
  });
}
