import { BridgeError } from "@bridge/ports";
import { NoCredentialsError } from "@bridge/ports/internal";
import { describe, expect, test } from "vitest";
import { entryError, isHandleGone, sqsError } from "../src/sqs-error.ts";

const named = (name: string, more: object = {}): Error => Object.assign(new Error("details"), { name, ...more });

describe("errors of SQS", () => {
  test.each([
    ["QueueDoesNotExist", "DESTINATION_NOT_FOUND"],
    ["AWS.SimpleQueueService.NonExistentQueue", "DESTINATION_NOT_FOUND"],
    ["com.amazonaws.sqs#QueueDeletedRecently", "DESTINATION_NOT_FOUND"],
    ["AccessDenied", "FORBIDDEN"],
    ["KmsAccessDenied", "FORBIDDEN"],
    ["InvalidClientTokenId", "NOT_AUTHORIZED"],
    ["ExpiredToken", "UNAVAILABLE"],
    ["KmsDisabled", "UNAVAILABLE"],
    ["ThrottlingException", "THROTTLED"],
    ["RequestThrottled", "THROTTLED"],
    ["OverLimit", "THROTTLED"],
    ["ServiceUnavailable", "UNAVAILABLE"],
    ["TimeoutError", "TIMEOUT"],
    ["BatchRequestTooLong", "PAYLOAD_TOO_LARGE"],
    ["InvalidMessageContents", "INVALID_PAYLOAD"],
    ["UnsupportedOperation", "REJECTED"],
  ] as const)("%s is %s, as an error and as an entry", (name, code) => {
    expect(sqsError("not sent", named(name)).code).toBe(code);
    expect(entryError("not sent", { Id: "0", Code: name, SenderFault: true }).code).toBe(code);
  });

  test("without credentials it says what became of the search for them, and never what the SDK says", () => {
    const ours = new NoCredentialsError("169.254.170.2 was asked for credentials and answered 500");
    expect(sqsError("not sent", ours)).toMatchObject({
      code: "UNAVAILABLE",
      charged: false,
      message: "not sent: CredentialsProviderError: 169.254.170.2 was asked for credentials and answered 500",
    });
    expect(sqsError("not sent", named("CredentialsProviderError")).message).toBe("not sent: CredentialsProviderError");
  });

  test.each([
    [429, "THROTTLED"],
    [500, "UNAVAILABLE"],
    [403, "FORBIDDEN"],
    [404, "DESTINATION_NOT_FOUND"],
    [400, "REJECTED"],
    [undefined, "INTERNAL"],
  ] as const)("an unknown one goes by its status: %s is %s", (httpStatusCode, code) => {
    expect(sqsError("not sent", named("NewError", { $metadata: { httpStatusCode } })).code).toBe(code);
  });

  test.each([
    ["InvalidMessageContents", false],
    ["AccessDenied", false],
    ["SomethingNew", false],
    ["SomethingNew", true],
    [undefined, true],
  ])("finding 6.16: an entry that fails as %s with SenderFault %s is no refusal", (Code, SenderFault) => {
    expect(entryError("not sent", { Id: "0", Code, SenderFault }).code).toBe("INTERNAL");
  });

  test("a connection that broke is CONNECTION_LOST, whatever the SDK calls it", () => {
    for (const code of ["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "EPIPE"]) {
      expect(sqsError("not sent", named("TimeoutError", { code }))).toMatchObject({ code: "CONNECTION_LOST" });
    }
    expect(sqsError("not sent", named("TimeoutError", { code: "ETIMEDOUT" })).code).toBe("TIMEOUT");
  });

  test.each(["Region is missing", 'Region not accepted: region="eu west" is not a valid hostname component.'])(
    "%s: the message says what to set",
    (words) => {
      const { message } = sqsError("not sent", new Error(words));
      expect(message).toContain("not sent: no usable AWS region is configured: set AWS_REGION");
    },
  );

  test("without credentials nothing was tried", () => {
    const error = sqsError("not sent", named("CredentialsProviderError"));
    expect(error).toMatchObject({ code: "UNAVAILABLE", charged: false });
  });

  test("the message names the error, and holds nothing of what was sent", () => {
    expect(sqsError("not sent", named("InvalidMessageContents")).message).toBe("not sent: InvalidMessageContents");
    expect(BridgeError.is(sqsError("not sent", undefined))).toBe(true);
  });

  test("a receipt that means nothing any more is told from what may pass", () => {
    const gone = (Code: string): boolean => isHandleGone({ Id: "0", Code, SenderFault: true });
    expect(gone("ReceiptHandleIsInvalid")).toBe(true);
    expect(gone("AWS.SimpleQueueService.MessageNotInflight")).toBe(true);
    expect(gone("InternalError")).toBe(false);
  });
});
