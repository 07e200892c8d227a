/** The parts of Stryker's paths into the syntax tree that are looked at here. */
interface SyntaxPath {
  readonly key: unknown;
  readonly node: {
    readonly type: string;
    readonly callee?: Callee;
    readonly id?: { readonly name: string } | null;
    readonly property?: { readonly name?: string };
  };
  readonly parentPath: SyntaxPath | null;
  readonly scope: { getBinding(name: string): { readonly referencePaths: readonly SyntaxPath[] } | undefined };
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

/** Functions that another module sends to a thread as text. */
const SENT_BY_OTHERS: ReadonlySet<string | undefined> = new Set(["readPieces"]);

/** A function that is sent to a thread as text: what Stryker would write into it is not there. */
function isSentAsText({ node, scope }: SyntaxPath): boolean {
  if (node.type !== "FunctionDeclaration") return false;
  if (SENT_BY_OTHERS.has(node.id?.name)) return true;
  const { referencePaths = [] } = scope.getBinding(node.id?.name ?? "") ?? {};
  return referencePaths.some(({ parentPath }) => {
    const user = parentPath?.node;
    return user?.type === "MemberExpression" && user.property?.name === "toString";
  });
}

function reasonFor(path: SyntaxPath): string | undefined {
  if (isTextForPeople(path)) return "text for people";
  return isSentAsText(path) ? "sent as text" : undefined;
}

/** A plugin for Stryker, which leaves both as they are. */
export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "left-as-it-is",
    value: { shouldIgnore: reasonFor },
  },
];
