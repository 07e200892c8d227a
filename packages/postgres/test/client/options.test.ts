import * as v from "valibot";
import { expect, test } from "vitest";
import { serverOf } from "../../src/client/client-config.ts";
import { postgresOptions } from "../../src/client/connection-options.ts";
import { parseServerUrl, serverUrlProblem } from "../../src/client/server-url.ts";

const options = postgresOptions({ more: v.optional(v.number()) });
const problems = (value: object): readonly string[] =>
  v.safeParse(options, value).issues?.map(({ message }) => message) ?? [];

test("nothing needs to be said: the environment says where the server is", () => {
  expect(v.parse(options, {})).toEqual({ schema: "bridge", pool_size: 5 });
});

test("options of a store stand beside those of the connection", () => {
  const given = { url: "postgresql://bridge@host/plant", password: "p", schema: "plant_7", pool_size: 2, more: 1 };
  expect(v.parse(options, given)).toEqual(given);
  expect(problems({ most: 1 })).toHaveLength(1);
});

test("a host is one, and a comma in a password is none of them", () => {
  expect(problems({ host: "a,b" })).toEqual([serverUrlProblem("postgres://a,b")]);
  expect(problems({ url: "postgresql://me:p,w@host/plant,7" })).toEqual([]);
});

test("what the url says is not said twice", () => {
  expect(problems({ url: "postgresql://host", host: "host", user: "me" })).toEqual([
    "host, user: the url says that already; remove one of the two",
  ]);
});

test.each([
  ["http://host", /^not the address of a server/],
  ["host:5432", /^not the address of a server/],
  ["postgresql://user:p#s@host/db", /^only sslmode|^not the address/],
  ["postgresql://host/db?connect_timeout=3", /^only sslmode/],
  ["postgresql://host/db?sslmode=prefer", /^sslmode is one of disable, require, verify-ca, verify-full/],
  ["postgresql://us%E0er@host/db", /percent-encoded/],
  ["postgres://a,b/db", /^names several servers, .* follows the primary/],
  ["postgres://us%E0er:p,w@a:5432,b:5432/db?sslmode=require", /^names several servers/],
])("%s is no address, and the answer does not repeat it", (url, why) => {
  expect(serverUrlProblem(url)).toMatch(why);
  expect(serverUrlProblem(url)).not.toContain("us%E0er");
  expect(problems({ url })).toEqual([serverUrlProblem(url)]);
});

test.each(["Bridge", "1bridge", "pg_bridge", "a-b", "", "a".repeat(64)])("the schema cannot be %j", (schema) => {
  expect(problems({ schema })).not.toEqual([]);
});

test("a url is taken apart as the server's own programs do", () => {
  expect(parseServerUrl("postgres://me:p%40ss@[::1]:6432/my%20db?sslmode=require")).toEqual({
    user: "me",
    password: "p@ss",
    host: "::1",
    port: 6_432,
    database: "my db",
    tls: true,
  });
  expect(parseServerUrl("postgresql:///plant")).toEqual({ database: "plant" });
});

test("asked for TLS, a server has to prove who it is", async () => {
  const limits = { connectTimeoutMs: 1, statementTimeoutMs: 1 };
  const sslOf = async (given: object) => (await serverOf({ schema: "s", pool_size: 1, ...given }, limits).config()).ssl;
  const strict = { rejectUnauthorized: true };
  expect(await sslOf({ url: "postgresql://host?sslmode=require" })).toEqual(strict);
  expect(await sslOf({ host: "host", tls: { reject_unauthorized: true } })).toEqual(strict);
  expect(await sslOf({ url: "postgresql://host?sslmode=disable" })).toBe(false);
  expect(await sslOf({ host: "host" })).toBeUndefined();
});

test("what is shown of a server has no user and no password", () => {
  const connection = { url: "postgresql://me:secret@host:6432/plant", schema: "s", pool_size: 1 };
  expect(serverOf(connection, { connectTimeoutMs: 1, statementTimeoutMs: 1 }).label).toBe("host:6432/plant");
});
