import { expect, it } from "vitest";
import { LastGoodTls } from "../src/last-good-tls.ts";
import type { TlsIdentity } from "../src/tls-files.ts";

const identity = (expiresAt: number): TlsIdentity => ({
  material: { cert: Buffer.from("c"), key: Buffer.from("k"), ca: undefined },
  options: {},
  expiresAt,
});
const files = (name: string) => ({ certFile: `${name}.crt`, keyFile: `${name}.key` });

it("keeps the last identity of each files, and forgets the one that was not used for the longest time", () => {
  const kept = new LastGoodTls(2);
  kept.keep(files("a"), identity(1));
  kept.keep(files("b"), identity(2));
  kept.keep(files("a"), identity(3));
  expect(kept.of(files("a"))?.expiresAt).toBe(3);
  kept.keep(files("c"), identity(4));
  expect(["a", "b", "c"].map((name) => kept.of(files(name))?.expiresAt)).toEqual([3, undefined, 4]);
});
