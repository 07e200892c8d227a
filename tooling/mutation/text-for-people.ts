/** The parts of Stryker's paths into the syntax tree that are looked at here. */
interface SyntaxPath {
  readonly key: unknown;
  readonly node: { readonly type: string; readonly callee?: Callee };
  readonly parentPath: SyntaxPath | null;
}

interface Callee {
  readonly type: string;
  readonly name?: string;
  readonly property?: { readonly name?: string; readonly id?: { readonly name?: string } };
  readonly object?: Callee;
}

const LOGGER = /logger$/i;
const ERROR = /(?:Error|Failure)$/;

function nameOf(callee: Callee | undefined): string {
  return callee?.name ?? callee?.property?.name ?? callee?.property?.id?.name ?? "";
}

/** What is logged, and the words of errors: a test that reads them word by word would only say them again. */
function isTextForPeople({ node, parentPath: parent }: SyntaxPath): boolean {
  if (parent?.node.type === "NewExpression")
    return node.type.endsWith("Literal") && ERROR.test(nameOf(parent.node.callee));
  return parent?.node.type === "CallExpression" && LOGGER.test(nameOf(parent.node.callee?.object));
}

/** A plugin for Stryker, which leaves such text as it is. */
export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "text-for-people",
    value: { shouldIgnore: (path: SyntaxPath) => (isTextForPeople(path) ? "text for people" : undefined) },
  },
];
