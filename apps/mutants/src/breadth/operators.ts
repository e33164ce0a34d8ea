import { isNode } from "./syntax.ts";
import type { Place, SyntaxNode } from "./syntax.ts";

/** One replacement in a source. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What a kind of fault does to a place; undefined if it does not apply there. */
type Operator = (place: Place, textOf: (node: SyntaxNode) => string) => Edit | undefined;

const BOUNDARY: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const OPPOSITE: Readonly<Record<string, string>> = { "===": "!==", "!==": "===" };
const OTHER_STEP: Readonly<Record<string, string>> = { "+": "-", "-": "+" };
const CONDITIONAL = new Set(["IfStatement", "ConditionalExpression", "WhileStatement"]);
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** The kinds of faults that people make. */
export const OPERATORS: Readonly<Record<string, Operator>> = {
  "condition negated"({ node }, textOf) {
    if (!CONDITIONAL.has(node.type)) return undefined;
    const test = node["test"] as SyntaxNode;
    return replaced(test, `!(${textOf(test)})`);
  },
  "comparison inverted"({ node }, textOf) {
    const inverse = OPPOSITE[String(node["operator"])];
    return node.type === "BinaryExpression" && inverse !== undefined
      ? replaced(node, between(node, inverse, textOf))
      : undefined;
  },
  "call dropped"({ node }) {
    if (node.type !== "ExpressionStatement") return undefined;
    const expression = awaited(node["expression"] as SyntaxNode);
    const isCall = expression.type === "CallExpression";
    // Without it, the source could not be loaded.
    const isSuper = isCall && (expression["callee"] as SyntaxNode).type === "Super";
    return isCall && !isSuper ? replaced(node, ";") : undefined;
  },
  "assignment dropped"({ node }) {
    if (node.type !== "ExpressionStatement") return undefined;
    const { type } = node["expression"] as SyntaxNode;
    return type === "AssignmentExpression" || type === "UpdateExpression"
      ? replaced(node, ";")
      : undefined;
  },
  "early return"({ node, around }) {
    const holder = around.at(-1);
    if (node.type !== "BlockStatement" || holder === undefined) return undefined;
    const isBody = FUNCTIONS.has(holder.type) && holder["body"] === node;
    const isConstructor = around.at(-2)?.["kind"] === "constructor";
    const { length } = node["body"] as readonly unknown[];
    if (!isBody || isConstructor || length === 0 || holder["generator"] === true) return undefined;
    return {
      start: node.start + 1,
      end: node.start + 1,
      text: " if (true) return undefined as never;",
    };
  },
  "await missing"({ node }, textOf) {
    if (node.type !== "AwaitExpression") return undefined;
    return replaced(node, textOf(node["argument"] as SyntaxNode));
  },
  "check dropped"({ node, around }) {
    if (node.type !== "IfStatement" || isNode(node["alternate"])) return undefined;
    const isElse = around.at(-1)?.type === "IfStatement";
    return !isElse && leaves(node["consequent"] as SyntaxNode) ? replaced(node, ";") : undefined;
  },
  "boundary shifted"({ node }, textOf) {
    const shifted = BOUNDARY[String(node["operator"])];
    return node.type === "BinaryExpression" && shifted !== undefined
      ? replaced(node, between(node, shifted, textOf))
      : undefined;
  },
  "off by one"({ node }, textOf) {
    const step = OTHER_STEP[String(node["operator"])];
    const right = node["right"] as SyntaxNode | undefined;
    if (node.type !== "BinaryExpression" || step === undefined) return undefined;
    return right!["value"] === 1 ? replaced(node, between(node, step, textOf)) : undefined;
  },
  "constant changed"({ node, around }) {
    if (node.type !== "Literal") return undefined;
    const value = node["value"];
    if (typeof value === "boolean") return replaced(node, String(!value));
    // Zero and one are the business of the other kinds.
    const isCount = typeof value === "number" && value > 1;
    return isCount && around.at(-1)?.type !== "TSLiteralType"
      ? replaced(node, String(value * 10))
      : undefined;
  },
  "and for or"({ node }, textOf) {
    if (node.type !== "LogicalExpression" || node["operator"] === "??") return undefined;
    const other = node["operator"] === "&&" ? "||" : "&&";
    return replaced(node, `(${between(node, other, textOf)})`);
  },
};

function replaced({ start, end }: SyntaxNode, text: string): Edit {
  return { start, end, text };
}

function between(node: SyntaxNode, operator: string, textOf: (node: SyntaxNode) => string): string {
  const [left, right] = [node["left"] as SyntaxNode, node["right"] as SyntaxNode];
  return `${textOf(left)} ${operator} ${textOf(right)}`;
}

function awaited(expression: SyntaxNode): SyntaxNode {
  if (expression.type === "UnaryExpression" && expression["operator"] === "void") {
    return expression["argument"] as SyntaxNode;
  }
  return expression.type === "AwaitExpression"
    ? (expression["argument"] as SyntaxNode)
    : expression;
}

/** Whether a branch ends the function: what a limit or an authorization check does. */
function leaves(branch: SyntaxNode): boolean {
  if (branch.type === "ThrowStatement" || branch.type === "ReturnStatement") return true;
  const last = branch.type === "BlockStatement" && (branch["body"] as SyntaxNode[]).at(-1);
  return typeof last === "object" && leaves(last);
}
