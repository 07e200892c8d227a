import { AwsSecrets } from "@bridge/tooling/aws-secrets";
import { expect, test } from "vitest";

async function ask(service: AwsSecrets, target: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(service.url, {
    method: "POST",
    body: JSON.stringify(body),
    headers: {
      "Content-Type": "application/x-amz-json-1.1",
      "X-Amz-Target": target,
      Authorization: "AWS4-HMAC-SHA256 Credential=test",
      ...headers,
    },
  });
  return { status: response.status, body: await response.json() };
}

test("the double of AWS gives an encrypted parameter in the clear only to whoever asks for that", async () => {
  await using service = await AwsSecrets.start();
  service.parameters.set("/key", { value: "in the clear" });
  expect(await ask(service, "AmazonSSM.GetParameter", { Name: "/key" })).toMatchObject({
    status: 200,
    body: { Parameter: { Value: "aW4gdGhlIGNsZWFy", Type: "SecureString" } },
  });
  expect(await ask(service, "AmazonSSM.GetParameter", { Name: "/key", WithDecryption: true })).toMatchObject({
    body: { Parameter: { Value: "in the clear" } },
  });
});

test("the double of AWS puts a parameter, over another only when it is told to", async () => {
  await using service = await AwsSecrets.start();
  const put = { Name: "/key", Value: "first", Type: "SecureString" };
  expect(await ask(service, "AmazonSSM.PutParameter", put)).toMatchObject({ status: 200 });
  const second = { ...put, Value: "second" };
  expect(await ask(service, "AmazonSSM.PutParameter", second)).toMatchObject({
    status: 400,
    body: { __type: "ParameterAlreadyExists" },
  });
  expect(await ask(service, "AmazonSSM.PutParameter", { ...second, Overwrite: true })).toMatchObject({ status: 200 });
  expect(await ask(service, "AmazonSSM.GetParameter", { Name: "/key", WithDecryption: true })).toMatchObject({
    body: { Parameter: { Value: "second" } },
  });
});

test.each([
  ["AmazonSSM.GetParameter", { Name: "/none" }, {}, "ParameterNotFound"],
  ["AmazonSSM.GetParameter", {}, {}, "ValidationException"],
  ["AmazonSSM.DeleteParameter", { Name: "/key" }, {}, "UnknownOperationException"],
  ["AmazonSSM.PutParameter", { Name: "/key" }, {}, "ValidationException"],
  ["AmazonSSM.PutParameter", { Name: "/key", Value: "v", Type: "Text" }, {}, "UnsupportedParameterType"],
  ["AmazonSSM.GetParameter", { Name: "/key" }, { "Content-Type": "text/plain" }, "UnknownOperationException"],
  ["AmazonSSM.GetParameter", { Name: "/key" }, { Authorization: "none" }, "MissingAuthenticationTokenException"],
  ["secretsmanager.GetSecretValue", { SecretId: "arn" }, {}, "ResourceNotFoundException"],
])("the double of AWS refuses %s %j %j", async (target, body, headers, type) => {
  await using service = await AwsSecrets.start();
  expect(await ask(service, target, body, headers)).toMatchObject({ status: 400, body: { __type: type } });
});
