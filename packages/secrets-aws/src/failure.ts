/** What to do about the refusals that an operator can mend, by the name of the error. */
const REMEDIES: Readonly<Record<string, string>> = {
  ParameterNotFound: "there is no such parameter: create it, or correct the name",
  ParameterVersionNotFound: "the parameter has no such version",
  ResourceNotFoundException: "there is no such secret, or it has no value: create it, or correct the ARN",
  AccessDeniedException: "access is denied: allow this process to read it, and to decrypt it with its KMS key",
  InvalidKeyId: "its KMS key cannot be used: allow this process kms:Decrypt",
  DecryptionFailure: "its KMS key cannot be used: allow this process kms:Decrypt",
  CredentialsProviderError:
    "there are no AWS credentials: give the task a role, or set AWS_ACCESS_KEY_ID and its secret",
  ThrottlingException: "the service is throttling",
  ThrottledException: "the service is throttling",
  TimeoutError: "the service does not answer in time",
};

/**
 * Why something could not be read, in a sentence. Made of what kind of error it is and never of its message: that of a
 * parser, say, quotes the answer, and with it the secret.
 */
export function failure(error: unknown): Error {
  const name = error instanceof Error ? error.name : "unknown error";
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return new Error(REMEDIES[name] ?? `the service cannot be asked: ${name}${code}`);
}
