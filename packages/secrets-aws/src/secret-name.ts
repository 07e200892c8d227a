/** `arn:aws:secretsmanager:<region>:<account>:secret:<name>`, in any partition. */
const SECRET_ARN = /^arn:[a-z0-9-]+:secretsmanager:([a-z0-9-]+):\d{12}:secret:[A-Za-z0-9/_+=.@-]+$/;
/** A name, or the ARN of a parameter that another account shares. */
const PARAMETER = /^(?:arn:[a-z0-9-]+:ssm:[a-z0-9-]+:\d{12}:parameter)?[A-Za-z0-9_./-]{1,2048}(?::[A-Za-z0-9_.-]+)?$/;

/** Whether a name is the ARN of a Secrets Manager secret; any other one is taken for a parameter's. */
export function isSecretArn(name: string): boolean {
  return SECRET_ARN.test(name);
}

/** Where to look for what. @throws Error when the name can be neither */
export function placeOf(
  name: string,
): { readonly kind: "secret"; readonly region: string } | { readonly kind: "parameter" } {
  const [, region] = SECRET_ARN.exec(name) ?? [];
  if (region !== undefined) return { kind: "secret", region };
  if (PARAMETER.test(name)) return { kind: "parameter" };
  throw new Error(
    "it is neither the name of an SSM parameter, such as /bridge/admin-key, nor the ARN of a Secrets Manager secret",
  );
}
