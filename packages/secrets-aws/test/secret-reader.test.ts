import { AwsSecrets } from "@bridge/tooling/aws-secrets";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { isSecretArn, openSecretReader, type SecretReader } from "../src/index.ts";

const ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bridge/admin-AbCdEf";
const CANARY = "canary-of-the-secret-reader";

let service: AwsSecrets;
let reader: SecretReader;
beforeAll(async () => {
  service = await AwsSecrets.start();
  for (const [name, value] of Object.entries(service.env)) vi.stubEnv(name, value);
  reader = openSecretReader();
  service.parameters.set("/bridge/admin-key", { value: CANARY });
  service.secrets.set(ARN, CANARY);
});
afterEach(() => {
  service.faults.length = 0;
  service.outage = undefined;
});
afterAll(async () => {
  reader[Symbol.dispose]();
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
});

const read = (name: string, ms = 20_000): Promise<string> => reader.read(name, AbortSignal.timeout(ms));

describe("secrets from AWS", () => {
  test("a parameter is read decrypted, and a secret by its ARN", async () => {
    expect(await read("/bridge/admin-key")).toBe(CANARY);
    expect(await read(ARN)).toBe(CANARY);
    expect(isSecretArn(ARN)).toBe(true);
    expect(isSecretArn("/bridge/admin-key")).toBe(false);
  });

  test.each([
    ["/none", "there is no such parameter"],
    ["arn:aws:secretsmanager:eu-west-1:123456789012:secret:none", "there is no such secret"],
    ["no name at all", "neither the name of an SSM parameter"],
    ["", "neither the name of an SSM parameter"],
  ])("%j is refused in words that help", async (name, message) => {
    await expect(read(name)).rejects.toThrow(message);
  });

  test("a secret of bytes holds no text", async () => {
    const arn = `${ARN}x`;
    service.secrets.set(arn, undefined);
    await expect(read(arn)).rejects.toThrow("it holds no text");
  });

  test.each([
    ["a number", 1234567890123456],
    ["an object", { text: CANARY }],
    ["a list", [CANARY]],
    ["null", null],
  ])("an answer whose value is %s holds no text", async (_, value) => {
    const none = value as unknown as string;
    service.parameters.set("/odd", { value: none });
    service.secrets.set(`${ARN}odd`, none);
    await expect(read("/odd")).rejects.toThrow("it holds no text");
    await expect(read(`${ARN}odd`)).rejects.toThrow("it holds no text");
  });

  test.each([
    { kind: "error", status: 400, type: "ThrottlingException" },
    { kind: "error", status: 500, type: "InternalServerError" },
  ] as const)("$type is tried again", async (fault) => {
    service.faults.push(fault, fault);
    expect(await read("/bridge/admin-key")).toBe(CANARY);
    expect(service.faults).toEqual([]);
  });

  test.each([
    [{ kind: "error", status: 400, type: "AccessDeniedException" } as const, "access is denied: allow"],
    [{ kind: "torn" } as const, "(status 200) is none of the Parameter Store, or was cut off"],
    [{ kind: "page", status: 200 } as const, "(status 200) is none of the Parameter Store, or was cut off"],
    [{ kind: "page", status: 407 } as const, "(status 407) is none of the Parameter Store, or was cut off"],
  ])("%j fails, and nothing in the error quotes a secret", async (fault, message) => {
    service.outage = fault;
    const error: unknown = await read("/bridge/admin-key").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining(message) as string });
    expect((error as Error).cause).toBeUndefined();
    expect((error as Error).stack).not.toContain(CANARY);
  });

  test("an answer that something in between has made is told with where it came from", async () => {
    service.outage = { kind: "page", status: 403 };
    const { host } = new URL(service.url);
    await expect(read(ARN)).rejects.toThrow(`the answer of ${host} (status 403) is none of Secrets Manager`);
  });

  test.each(["", "eu west"])("a region of %j is told with what to set", async (region) => {
    vi.stubEnv("AWS_REGION", region);
    using elsewhere = openSecretReader();
    await expect(elsewhere.read("/bridge/admin-key", AbortSignal.timeout(20_000))).rejects.toThrow("set AWS_REGION");
    vi.stubEnv("AWS_REGION", service.env["AWS_REGION"]);
  });

  test("a service that says nothing is left at the signal", async () => {
    service.outage = { kind: "silence" };
    await expect(read("/bridge/admin-key", 50)).rejects.toThrow(expect.objectContaining({ name: "TimeoutError" }));
  });
});
