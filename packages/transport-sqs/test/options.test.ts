import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { sqsTransport } from "../src/sqs-transport.ts";
import { sender } from "./support/parts.ts";

const { receiver: source, sender: target, session } = sqsTransport();
const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders";

type AnySchema = v.GenericSchema;

/** Of an optional field, what it has when it is there. */
function innermost(field: AnySchema): AnySchema {
  return "wrapped" in field ? (field.wrapped as AnySchema) : field;
}

describe("the options", () => {
  test("of a receiver have defaults", () => {
    expect(v.parse(source!.options, { queue_url: QUEUE })).toEqual({
      queue_url: QUEUE,
      max_messages: 10,
      wait_time: 20_000,
      visibility_timeout: 30_000,
    });
  });

  test.each([
    [{}, "queue_url"],
    [{ queue_url: "orders" }, "is no URL"],
    [{ queue_url: "ftp://host/1/orders" }, "is no http(s) URL"],
    [{ queue_url: `${QUEUE}?x=1` }, "has a query"],
    [{ queue_url: "https://user:secret@host/1/orders" }, "holds credentials"],
    [{ queue_url: "https:host/1/orders" }, "is no URL as SQS writes it"],
    [{ queue_url: "https:\\\\host\\orders" }, "is no URL as SQS writes it"],
    [{ queue_url: ` ${QUEUE}` }, "is no URL as SQS writes it"],
    [{ queue_url: `${QUEUE}?` }, "is no URL as SQS writes it"],
    [{ queue_url: "https://host/" }, "does not end with the name of a queue"],
    [{ queue_url: QUEUE, max_messages: 11 }, "from 1 to 10"],
    [{ queue_url: QUEUE, wait_time: "21s" }, "from 1s to 20s"],
    [{ queue_url: QUEUE, wait_time: "1500ms" }, "whole seconds"],
    [{ queue_url: QUEUE, visibility_timeout: "1s" }, "from 2s to 12h"],
    [{ queue_url: QUEUE, visibility_timeout: "13h" }, "from 2s to 12h"],
    [{ queue_url: QUEUE, region: "eu" }, "region"],
  ])("of a receiver %j are refused: %s", (options, why) => {
    const { issues = [] } = v.safeParse(source!.options, options);
    const said = issues.map((issue) => `${String(v.getDotPath(issue as never))} ${issue.message}`).join("; ");
    expect(said).toContain(why);
    expect(said).not.toContain("secret");
  });

  test("finding 6.14: what is no queue is refused by the published schema as well, and what is one is not", () => {
    for (const { options } of [source!, target!]) {
      const { queue_url: field } = (options as v.StrictObjectSchema<v.ObjectEntries, undefined>).entries;
      const pattern = new RegExp((v.getMetadata(innermost(field!)) as { readonly pattern: string }).pattern);
      const isQueue = (url: string): boolean => v.safeParse(innermost(field!), url).success;
      for (const url of [
        QUEUE,
        `${QUEUE}.fifo`,
        "HTTP://127.0.0.1:9324/q",
        "https://host/a/b/c/q",
        "https://[::1]:9/q",
      ]) {
        expect([pattern.test(url), isQueue(url)]).toEqual([true, true]);
      }
      for (const url of [
        "orders",
        "ftp://host/1/q",
        `${QUEUE}?x=1`,
        `${QUEUE}#`,
        "https://a:b@host/1/q",
        "https://host/",
      ]) {
        expect([pattern.test(url), isQueue(url)]).toEqual([false, false]);
      }
    }
  });

  test("of a sender are a queue, and the group of what has no key", () => {
    expect(v.parse(target!.options, {})).toEqual({});
    expect(v.safeParse(target!.options, { message_group_id: "with space" }).success).toBe(false);
    expect(v.safeParse(target!.options, { message_group_id: "rest" }).success).toBe(true);
  });
});

describe("the transport", () => {
  test("has no sessions, refuses topics, redelivers, and competes", () => {
    expect(session).toBeUndefined();
    expect(source).toMatchObject({ needsSession: false, topics: "refused", redelivers: "always", competing: true });
    expect(target?.needsSession).toBe(false);
  });

  test("says at validation what is no queue", () => {
    expect(target?.addressProblem?.("")).toBeUndefined();
    expect(target?.addressProblem?.(QUEUE)).toBeUndefined();
    expect(target?.addressProblem?.("orders")).toContain("is no URL");
  });

  test("lets placeholders name queues, and nothing else", () => {
    const addressing = sender().addressing!;
    expect(addressing.fill("orders-7", "https://host/1/")).toBe("orders-7");
    expect(addressing.fill("orders.fifo", "https://host/1/")).toBe("orders.fifo");
    for (const value of ["../2/orders", "a/b", "", "a?b", "ä"]) {
      expect(() => addressing.fill(value, "https://host/1/")).toThrow(
        expect.objectContaining({ code: "BINDING_UNRESOLVED" }),
      );
    }
    for (const before of ["", "https://", "https://host"]) {
      expect(() => addressing.fill("evil", before)).toThrow(expect.objectContaining({ code: "BINDING_UNRESOLVED" }));
    }
  });
});
