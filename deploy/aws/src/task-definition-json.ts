/** A template of CloudFormation, as far as a task definition refers to it. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** The names of their fields are words of their own, not of ECS. */
const FREE_NAMES = new Set(["Options"]);

/**
 * The task definition of a template as `aws ecs register-task-definition --cli-input-json` takes it. What only a stack
 * knows stands in angle brackets, to be filled in.
 */
export function taskDefinitionJson(template: Template): Fields {
  const found = Object.values(template.Resources).find(({ Type }) => Type === "AWS::ECS::TaskDefinition");
  if (found === undefined) throw new Error("the template has no task definition");
  const { Tags: _, ...properties } = found.Properties;
  return plain(properties, template) as Fields;
}

function plain(value: unknown, template: Template, keepNames = false): unknown {
  if (Array.isArray(value)) return value.map((each) => plain(each, template));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Fields;
  if ("Ref" in fields) return referred(String(fields["Ref"]), template);
  if ("Fn::GetAtt" in fields) return `<${(fields["Fn::GetAtt"] as readonly string[]).map(wordOf).join(" ")}>`;
  return Object.fromEntries(
    Object.entries(fields).map(([name, each]) => [
      keepNames ? name : name.charAt(0).toLowerCase() + name.slice(1),
      plain(each, template, FREE_NAMES.has(name)),
    ]),
  );
}

/** A pseudo parameter such as `AWS::Region`, or the name that a resource is given. */
function referred(id: string, { Resources }: Template): unknown {
  return Resources[id]?.Properties["LogGroupName"] ?? `<${id.replace(/^AWS::/, "")}>`;
}

/** The name of a resource without the hash that the CDK adds. */
function wordOf(name: string): string {
  return name.replace(/[0-9A-F]{8}$/, "");
}
