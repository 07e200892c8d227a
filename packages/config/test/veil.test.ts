import { cpuTime } from "@bridge/tooling/cpu-time";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkDocument, Veil } from "../src/index.ts";
import { goodDocument, type Json, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

describe("a veil", () => {
  test.each([
    [
      "amqp://rabbit.example.com:5672/plant",
      "connect ECONNREFUSED rabbit.example.com:5672",
      "connect ECONNREFUSED [REDACTED]",
    ],
    ["https://target/in", "no response from https://target", "no response from https://[REDACTED]"],
    ["orders-queue", "no queue 'orders-queue' in vhost '/'", "no queue '[REDACTED]' in vhost '/'"],
    ["data", "a database has data, or no data", "a database has [REDACTED], or no [REDACTED]"],
    ["/run/secrets/ca.pem", 'tls.ca_file "/run/secrets/ca.pem" is empty', 'tls.ca_file "[REDACTED]" is empty'],
    ["http://localhost:8080/x", "http://localhost is away", "http://localhost is away"],
    ["127.0.0.1:5432", "127.0.0.1:5432 is away", "127.0.0.1:5432 is away"],
    ["delivered-orders", "not delivered by delivered-orders", "not delivered by [REDACTED]"],
    ["abc", "abc", "abc"],
    ["", "anything", "anything"],
  ])("of %j makes of %j", (value, text, shown) => {
    expect(new Veil([value]).over(text)).toBe(shown);
  });

  test("shows no value of 4 characters and more that stands alone, nor 8 of a longer one unless they are mere letters", () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9./_-]{4,30}$/).filter((value) => !value.startsWith("127."));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.string(), fc.string(), (values, before, after) => {
        const veil = new Veil(values);
        for (const value of values) {
          const shown = veil.over(`${before} ${value} ${after}`);
          expect(shown.split(/\s/)).not.toContain(value);
          const pieces = Array.from({ length: Math.max(0, value.length - 8) }, (_, at) => value.slice(at, at + 8));
          for (const piece of pieces) if (!/^[a-zA-Z]+$/.test(piece)) expect(shown).not.toContain(piece);
        }
      }),
    );
  });

  test("leaves a text as it is in which there is nothing of them", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-m]{4,20}$/), fc.stringMatching(/^[n-z ]*$/), (value, text) => {
        expect(new Veil([value]).over(text)).toBe(text);
      }),
    );
  });

  test("takes no longer than the text is long", async () => {
    const veil = new Veil(["a".repeat(50_000), "bcde"]);
    const spent = await cpuTime(() => {
      expect(veil.over("a".repeat(1_000_000))).toBe("[REDACTED]");
      expect(veil.over("bcde ".repeat(200_000))).toHaveLength("[REDACTED] ".length * 200_000);
    });
    expect(spent).toBeLessThan(10_000);
  });
});

describe("what a configuration veils", () => {
  async function veilsOf(places: Readonly<Record<string, string>>, document: Json = goodDocument()) {
    const values = new Map<string, string>();
    for (const [index, [place, value]] of Object.entries(places).entries()) {
      withValue(place, `\${env:X${index}}`, document);
      values.set(`X${index}`, value);
    }
    const sources = { env: (name: string) => values.get(name), file: () => Promise.reject(new Error("none")) };
    const checked = await checkDocument(document, registry, sources, AbortSignal.timeout(10_000));
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    return checked.config.veils;
  }

  test("are texts that came in through references", async () => {
    expect(
      await veilsOf({ "senders.0.options.url": "https://target.example", "bindings.0.address": "/plant" }),
    ).toEqual(["https://target.example", "/plant"]);
    expect(await veilsOf({})).toBeUndefined();
  });

  test("are not names of parts, numbers, times, and words that are listed", async () => {
    const plain = {
      "bridge.id": "berlin-plant",
      "bridge.log_level": "debug",
      "bridge.drain_timeout": "10s",
      "routes.0.policy.max_in_flight": "1234",
      "routes.0.delivery_mode": "direct_hold",
      "http.admin_addr": ":8080",
    };
    expect(await veilsOf(plain)).toBeUndefined();
    // What is in a name is public.
    expect(await veilsOf({ "bridge.id": "berlin-plant", "senders.0.options.url": "https://berlin.example" })).toEqual([
      "https://berlin.example",
    ]);
    expect(await veilsOf({ "bridge.id": "berlin-plant", "bindings.0.address": "berlin" })).toBeUndefined();
  });
});
