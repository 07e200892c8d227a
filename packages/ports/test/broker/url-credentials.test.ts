import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitUrl, splitUrls } from "../../src/broker/url-credentials.ts";

const name = fc.string({ minLength: 1 }).filter((text) => text.isWellFormed());

describe("the user of an address", () => {
  test("is taken out of it, with the password, whatever is in them", () => {
    fc.assert(
      fc.property(name, name, fc.constantFrom("host:5672/v%2F", "[::1]", "host"), (username, password, rest) => {
        const url = `amqp://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${rest}`;
        expect(splitUrl(url)).toEqual({ url: `amqp://${rest}`, username, password });
      }),
    );
  });

  test.each([
    ["amqp://host:5672/a@b", { url: "amqp://host:5672/a@b" }],
    ["amqp://host?x=a@b", { url: "amqp://host?x=a@b" }],
    ["amqp://user@host", { url: "amqp://host", username: "user" }],
    ["amqp://:secret@host", { url: "amqp://host", password: "secret" }],
    ["amqp://@host", { url: "amqp://host" }],
    ["amqp://a:b@c:d@host", { url: "amqp://host", username: "a", password: "b@c:d" }],
    ["amqp://%zz:x@host", { url: "amqp://%zz:x@host" }],
    ["host", { url: "host" }],
    ["", { url: "" }],
  ])("of %s", (url, split) => {
    expect(splitUrl(url)).toEqual(split);
  });

  test("is that of all addresses of a cluster, or stays where it is", () => {
    expect(splitUrls(["mqtt://u:p@a", "mqtt://u:p@b"])).toEqual({
      urls: ["mqtt://a", "mqtt://b"],
      username: "u",
      password: "p",
    });
    expect(splitUrls(["mqtt://u:p@a", "mqtt://b"])).toEqual({ urls: ["mqtt://u:p@a", "mqtt://b"] });
    expect(splitUrls([])).toEqual({ urls: [] });
  });
});
