import { tcpProxy } from "@bridge/conformance";
import { describe, expect, test } from "vitest";
import { like } from "./support/like.ts";
import { ownServer } from "./support/own-server.ts";
import { connected, envelope, never, sender, session } from "./support/parts.ts";
import { noServer } from "./support/server.ts";
import { standIn } from "./support/stand-in.ts";

const NAMES = "$JS.API.STREAM.NAMES";

describe.skipIf(noServer)("a message that nobody answers to (needs NATS)", () => {
  test("is DESTINATION_NOT_FOUND only if JetStream says that no stream takes it", async () => {
    const answers = [
      { streams: [] },
      { error: { code: 503, err_code: 10_008, description: "JetStream system temporarily unavailable" } },
      { streams: ["S"] },
    ];
    await using server = await standIn(NAMES, (question) => void question.respond(JSON.stringify(answers.shift())));
    await using target = session({ port: server.port, role: "target" });
    await connected(target);
    for (const [code, message] of [
      ["DESTINATION_NOT_FOUND", "no stream takes messages of this subject"],
      ["UNAVAILABLE", /is not known: 503 \(10008\)/],
      ["UNAVAILABLE", /stream S does not answer/],
    ] as const)
      await expect(sender(target).send(envelope(), "a", never)).rejects.toMatchObject({ code, message: like(message) });
  });

  test("is worth another try where there is no JetStream, or none at the moment", async () => {
    await using server = await ownServer(["jetstream: false"]);
    await using target = session({ port: server.port, role: "target" });
    await connected(target);
    await expect(sender(target).send(envelope(), "a", never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("is worth another try when the question gets no answer in time", async () => {
    await using server = await standIn(NAMES, () => {});
    await using target = session({ port: server.port, role: "target", options: { connect_timeout: "300ms" } });
    await connected(target);
    await expect(sender(target).send(envelope(), "a", never)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("is worth another try when the connection is lost before the answer", async () => {
    await using server = await standIn(NAMES, () => link.cut());
    await using link = await tcpProxy({ target: { port: server.port } });
    await using target = session({ port: link.port, role: "target" });
    await connected(target);
    await expect(sender(target).send(envelope(), "a", never)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("is given up when its sender says so, whatever becomes of the question", async () => {
    const controller = new AbortController();
    await using server = await standIn(NAMES, () => controller.abort(new Error("given up")));
    await using target = session({ port: server.port, role: "target" });
    await connected(target);
    await expect(sender(target).send(envelope(), "a", controller.signal)).rejects.toThrow("given up");
  });
});
