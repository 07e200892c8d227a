/** What every published package has to say of itself, worked out from what it is. @module */

export interface Manifest extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly keywords?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Others call some of our words differently, and search by those. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  amqp: ["rabbitmq"],
  sqs: ["aws", "amazon-sqs"],
  dynamodb: ["aws"],
  secrets: ["aws", "secrets-manager"],
  nats: ["jetstream"],
  dlq: ["dead-letter-queue"],
  postgres: ["postgresql"],
  otlp: ["opentelemetry"],
  telemetry: ["metrics", "prometheus"],
  file: ["sqlite"],
  processors: ["jsonata", "json-schema"],
};
const ALL = ["bridge", "message-bridge", "messaging"] as const;
/** Says nothing to somebody who searches. */
const SILENT = new Set(["kit", "transport", "profile", "core"]);

/** Keys whose values are the same for all but for a package's name and folder. */
export function published(manifest: Manifest, folder: string, repository: string): Readonly<Record<string, unknown>> {
  const isApplication = folder.startsWith("apps/");
  return {
    keywords: keywordsOf(manifest.name),
    homepage: `${repository}/tree/main/${folder}#readme`,
    bugs: `${repository}/issues`,
    license: "MIT",
    repository: { type: "git", url: `git+${repository}.git`, directory: folder },
    // An application is published from its build, which has everything in its files.
    files: isApplication ? ["dist"] : ["dist", "CHANGELOG.md"],
    ...(isApplication ? {} : { sideEffects: manifest["sideEffects"] ?? false }),
    scripts: { ...manifest.scripts, prepack: "node ../../tooling/manifests/is-built.ts" },
    publishConfig: {
      // In the order that the formatter gives them.
      access: "public",
      ...(isApplication ? { directory: "dist", linkDirectory: false } : {}),
      provenance: true,
    },
    engines: { node: ">=22.19" },
  };
}

function keywordsOf(name: string): readonly string[] {
  const words = name.replace("@bridge/", "").split("-");
  const found = words.filter((word) => !SILENT.has(word)).flatMap((word) => [word, ...(ALSO[word] ?? [])]);
  // In the order that the formatter gives them.
  return [...new Set([...ALL, ...found])].toSorted();
}
