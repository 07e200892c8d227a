import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { CredentialsEndpoint } from "@bridge/tooling/credentials-endpoint";
import { expect, test, vi } from "vitest";
import { sqsClient } from "../src/sqs-client.ts";

const LIMITS = { connections: 2, requestTimeoutMs: 5_000 };

/** Refuses every request, and remembers whose key signed it. */
async function refusing(): Promise<AsyncDisposable & { readonly url: string; readonly signers: readonly string[] }> {
  const signers: string[] = [];
  const server = createServer((request, response) => {
    signers.push(/Credential=(\w+)\//.exec(request.headers.authorization ?? "")?.[1] ?? "nobody");
    request.resume();
    response.writeHead(503, { "content-type": "application/x-amz-json-1.0" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/000000000000/q`,
    signers,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

test("a client signs each request with the credentials of the moment, and makes it once", async () => {
  await using server = await refusing();
  let asked = 0;
  const credentials = () =>
    Promise.resolve({ accessKeyId: `KEY${++asked}`, secretAccessKey: "secret", expiration: new Date(Date.now() + 1) });
  const client = sqsClient({ region: "eu-central-1", credentials }, LIMITS);
  for (let i = 0; i < 3; i++) {
    const command = new SendMessageCommand({ QueueUrl: server.url, MessageBody: "m" });
    await expect(client.send(command)).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } });
  }
  client.destroy();
  expect(new Set(server.signers).size).toBe(3);
  expect(server.signers).toHaveLength(3);
});

test("credentials that expired while their endpoint was silent are got once it speaks again", async () => {
  await using server = await refusing();
  await using endpoint = await CredentialsEndpoint.start(1);
  const client = sqsClient({ region: "eu-central-1" }, LIMITS);
  const send = () => client.send(new SendMessageCommand({ QueueUrl: server.url, MessageBody: "m" }));
  const answered = { $metadata: { httpStatusCode: 503 } };
  await expect(send()).rejects.toMatchObject(answered);
  endpoint.silent = true;
  const { asked } = endpoint;
  const held = send();
  await vi.waitFor(() => expect(endpoint.asked).toBeGreaterThan(asked), { timeout: 60_000 });
  endpoint.silent = false;
  await expect(held).rejects.toMatchObject(answered);
  client.destroy();
});
