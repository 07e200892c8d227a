import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { env } from "node:process";
import { authority } from "@bridge/tooling/certificates";
import { listening } from "@bridge/tooling/listening";
import { afterAll, describe, expect, test, vi } from "vitest";
import { HTTP } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";
import { TlsFront } from "./support/tls-front.ts";

/** A session that fails tries again after up to 30 s. */
const PATIENCE = { timeout: 90_000, interval: 20 };
const BROKERS = { mqtt: 1883, amqp: 5672, nats: 4222 } as const;
type Protocol = keyof typeof BROKERS;
const PROTOCOLS = Object.keys(BROKERS) as readonly Protocol[];
const there = await Promise.allSettled(Object.values(BROKERS).map((port) => listening(port, 2_000)));
const missing = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && there.some(({ status }) => status === "rejected");

const ADDRESSES: Readonly<Record<Protocol, (port: number) => object>> = {
  mqtt: (port) => ({ broker_urls: [`mqtts://localhost:${port}`] }),
  amqp: (port) => ({ url: `amqps://localhost:${port}` }),
  nats: (port) => ({ servers: [`tls://localhost:${port}`] }),
};

describe.skipIf(missing)("sessions with certificates of their own (need Mosquitto, RabbitMQ and NATS)", () => {
  const stack = new AsyncDisposableStack();
  afterAll(() => stack.disposeAsync());

  test(
    "stay when these are spoiled and something else is changed, say what is wrong when they connect again, and take renewed ones",
    { timeout: 240_000 },
    async () => {
      const issuer = authority();
      const stage = stack.use(await Stage.run(`${HTTP}bridge: {id: test}\n`));
      const at = (name: string): string => join(stage.folder.path, name);
      const renew = (protocol: Protocol, name: string): void => {
        const { cert, key } = issuer.issue(`${protocol} ${name}`);
        writeFileSync(at(`${protocol}.crt`), cert);
        writeFileSync(at(`${protocol}.key`), key);
      };
      writeFileSync(at("ca.crt"), issuer.cert);
      const fronts = new Map<Protocol, TlsFront>();
      for (const protocol of PROTOCOLS) {
        const front = await TlsFront.start({ port: BROKERS[protocol], issuer, greets: protocol === "nats" });
        fronts.set(protocol, stack.use(front));
        renew(protocol, "first");
      }
      const portOf = (protocol: Protocol): number => fronts.get(protocol)?.port ?? 0;
      const files = (protocol: Protocol) => ({
        ca_file: at("ca.crt"),
        cert_file: at(`${protocol}.crt`),
        key_file: at(`${protocol}.key`),
      });
      const document = (inFlight: number): string => {
        const policy = { on_permanent_failure: "drop", on_expired: "drop" };
        const parts = {
          sessions: PROTOCOLS.map((id) => ({
            id,
            transport: id,
            options: { ...ADDRESSES[id](portOf(id)), tls: files(id) },
          })),
          receivers: [...PROTOCOLS, "other"].map((id) => ({ id, transport: "memory", options: { channel: id } })),
          senders: [...PROTOCOLS.map((id) => ({ id, session_id: id })), { id: "other", transport: "memory" }],
          bindings: [...PROTOCOLS, "other"].map((id) => ({ id, sender_id: id, address: `tls.${id}` })),
          routes: [...PROTOCOLS, "other"].map((id) => ({
            id,
            receiver_id: id,
            bindings: [id],
            policy: { ...policy, ...(id === "other" && { max_in_flight: inFlight }) },
          })),
        };
        const blocks = Object.entries(parts).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
        return `${HTTP}bridge: {id: test}\n${blocks.join("")}`;
      };
      const came = () => Object.fromEntries(Array.from(fronts, ([protocol, front]) => [protocol, front.came.at(-1)]));
      const named = (name: string) =>
        Object.fromEntries(PROTOCOLS.map((protocol) => [protocol, `${protocol} ${name}`]));
      const reloads = () => stage.bridge.log.filter(({ msg }) => msg === "configuration reloaded").length;

      stage.folder.write("bridge.yaml", document(1));
      await vi.waitFor(() => expect(came()).toEqual(named("first")), PATIENCE);

      for (const protocol of PROTOCOLS) writeFileSync(at(`${protocol}.key`), "-----BEGIN");
      const before = reloads();
      stage.folder.write("bridge.yaml", document(2));
      await vi.waitFor(() => expect(reloads()).toBe(before + 1), PATIENCE);
      expect(Array.from(fronts.values(), ({ came: { length }, open }) => [length, open])).toEqual([
        [1, 1],
        [1, 1],
        [1, 1],
      ]);

      for (const front of fronts.values()) front.cut();
      await vi.waitFor(() => {
        for (const protocol of PROTOCOLS)
          expect(stage.bridge.stderr).toContain(
            `tls.key_file ${JSON.stringify(JSON.stringify(at(`${protocol}.key`))).slice(1, -1)} holds no private key in PEM form: name`,
          );
      }, PATIENCE);
      expect(stage.bridge.stderr).not.toContain("-----BEGIN");

      for (const protocol of PROTOCOLS) {
        rmSync(at(`${protocol}.crt`));
        renew(protocol, "second");
      }
      await vi.waitFor(() => expect(came()).toEqual(named("second")), PATIENCE);
      expect((await stage.health(({ ready_for_traffic }) => ready_for_traffic)).ready_for_traffic).toBe(true);
    },
  );
});
