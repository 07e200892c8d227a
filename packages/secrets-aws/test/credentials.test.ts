import { AwsSecrets } from "@bridge/tooling/aws-secrets";
import { CredentialsEndpoint } from "@bridge/tooling/credentials-endpoint";
import { afterEach, expect, test, vi } from "vitest";
import { openSecretReader } from "../src/index.ts";

afterEach(() => void vi.unstubAllEnvs());

test("a read goes on when the endpoint of the credentials was silent and speaks again", async () => {
  await using service = await AwsSecrets.start();
  for (const [name, value] of Object.entries(service.env)) vi.stubEnv(name, value);
  service.parameters.set("/bridge/key", { value: "a value" });
  await using endpoint = await CredentialsEndpoint.start(3_600_000);
  using reader = openSecretReader();
  endpoint.silent = true;
  const read = reader.read("/bridge/key", new AbortController().signal);
  await vi.waitFor(() => expect(endpoint.asked).toBe(1), { timeout: 60_000 });
  endpoint.silent = false;
  expect(await read).toBe("a value");
});
