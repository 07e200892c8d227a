import { AwsSecrets } from "@bridge/tooling/aws-secrets";
import { CredentialsEndpoint } from "@bridge/tooling/credentials-endpoint";
import { KeyService } from "@bridge/tooling/key-service";
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

test.each([
  ["the Parameter Store", "/bridge/key"],
  ["Secrets Manager", "arn:aws:secretsmanager:eu-central-1:000000000000:secret:key-abcdef"],
])("a read of %s whose key was revoked is signed anew and made once more", async (_, name) => {
  await using service = await KeyService.start({ Parameter: { Value: "a value" }, SecretString: "a value" });
  for (const kind of ["SSM", "SECRETS_MANAGER"]) vi.stubEnv(`AWS_ENDPOINT_URL_${kind}`, service.url);
  vi.stubEnv("AWS_REGION", "eu-central-1");
  await using endpoint = await CredentialsEndpoint.start(3_600_000);
  using reader = openSecretReader();
  const read = () => reader.read(name, new AbortController().signal);
  await read();
  service.revoked.add("KEY1");
  expect(await read()).toBe("a value");
  expect(service.signers).toEqual(["KEY1", "KEY1", "KEY2"]);
  expect(endpoint.asked).toBe(2);
});
