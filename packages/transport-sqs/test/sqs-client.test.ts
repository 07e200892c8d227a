import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { CredentialsEndpoint } from "@bridge/tooling/credentials-endpoint";
import { KeyService } from "@bridge/tooling/key-service";
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

test("a client makes a request that the service fails once", async () => {
  await using server = await refusing();
  const credentials = { accessKeyId: "KEY", secretAccessKey: "secret" };
  const client = sqsClient({ region: "eu-central-1", credentials }, LIMITS);
  const command = new SendMessageCommand({ QueueUrl: server.url, MessageBody: "m" });
  await expect(client.send(command)).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } });
  client.destroy();
  expect(server.signers).toEqual(["KEY"]);
});

test("credentials that expired while their endpoint was silent are got once it speaks again", async () => {
  await using server = await refusing();
  await using endpoint = await CredentialsEndpoint.start(500);
  const client = sqsClient({ region: "eu-central-1" }, LIMITS);
  const send = () => client.send(new SendMessageCommand({ QueueUrl: server.url, MessageBody: "m" }));
  const answered = { $metadata: { httpStatusCode: 503 } };
  await expect(send()).rejects.toMatchObject(answered);
  endpoint.silent = true;
  const { asked } = endpoint;
  const sent: Promise<unknown>[] = [];
  const sendAnother = () => {
    sent.push(send().catch((error: unknown) => error));
    expect(endpoint.asked).toBeGreaterThan(asked);
  };
  await vi.waitFor(sendAnother, { timeout: 60_000, interval: 100 });
  endpoint.silent = false;
  for (const one of await Promise.all(sent)) expect(one).toMatchObject(answered);
  client.destroy();
});

test("a client signs with the credentials of the moment: a request of a key that was revoked is made once more", async () => {
  await using service = await KeyService.start({ MessageId: "1" });
  await using endpoint = await CredentialsEndpoint.start(3_600_000);
  const client = sqsClient({ region: "eu-central-1" }, LIMITS);
  const send = () => client.send(new SendMessageCommand({ QueueUrl: `${service.url}/0/q`, MessageBody: "m" }));
  await send();
  service.revoked.add("KEY1");
  await send();
  client.destroy();
  expect(service.signers).toEqual(["KEY1", "KEY1", "KEY2"]);
  expect(endpoint.asked).toBe(2);
});
