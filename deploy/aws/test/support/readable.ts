/** A value of a template with what it refers to in angle brackets, so that a test can be read. */
export function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  if ("Ref" in fields) return `<${plainName(String(fields["Ref"]))}>`;
  if ("Fn::GetAtt" in fields) return `<${(fields["Fn::GetAtt"] as readonly string[]).map(plainName).join(".")}>`;
  if ("Fn::Join" in fields) {
    const [separator, parts] = fields["Fn::Join"] as readonly [string, readonly unknown[]];
    return parts.map((part) => String(readable(part))).join(separator);
  }
  return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, readable(each)]));
}

/** Without the hash that the CDK adds. */
function plainName(name: string): string {
  return name.replace(/^AWS::/, "").replace(/[0-9A-F]{8}$/, "");
}
