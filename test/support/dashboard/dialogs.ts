import type { Expression, JSXOpeningElement } from "oxc-parser";
import { parseSync, Visitor } from "oxc-parser";
import { readSourceTree } from "#test/support/project/source-tree.ts";

/** A dialog of the dashboard, as its component is written. */
export interface WrittenDialog {
  /** Below `src/web/dashboard/`. */
  readonly file: string;
  /** With "…" in place of each name in it. */
  readonly title: string;
}

const folder = "src/web/dashboard/";

/** All dialogs in the dashboard's source. A component that gets its title as a property is listed where it is used. */
export function writtenDialogs(): readonly WrittenDialog[] {
  return readSourceTree()
    .filter(({ path }) => path.startsWith(folder) && path.endsWith(".tsx") && !path.startsWith(`${folder}ui/`))
    .flatMap(({ path, text }) => dialogsIn(path.slice(folder.length), text));
}

export function dialogsIn(file: string, text: string): readonly WrittenDialog[] {
  const { program } = parseSync(file, text);
  const found: WrittenDialog[] = [];
  new Visitor({
    JSXOpeningElement(element) {
      for (const title of titlesOf(element)) found.push({ file, title });
    },
  }).visit(program);
  return found;
}

function titlesOf({ name, attributes }: JSXOpeningElement): readonly string[] {
  if (name.type !== "JSXIdentifier" || !/dialog$/iu.test(name.name)) return [];
  const wanted = name.name === "dialog" ? "aria-label" : "title";
  return attributes.flatMap((attribute) => {
    if (attribute.type !== "JSXAttribute" || attribute.name.name !== wanted) return [];
    const { value } = attribute;
    if (value?.type === "Literal") return textsOf(value);
    if (value?.type !== "JSXExpressionContainer" || value.expression.type === "JSXEmptyExpression") return [];
    return textsOf(value.expression);
  });
}

/** The texts that an expression may have: those of both branches of a choice. */
function textsOf(value: Expression): readonly string[] {
  switch (value.type) {
    case "Literal":
      return typeof value.value === "string" ? [value.value] : [];
    case "TemplateLiteral":
      return [value.quasis.map(({ value: { cooked } }) => cooked ?? "").join("…")];
    case "ConditionalExpression":
      return [...textsOf(value.consequent), ...textsOf(value.alternate)];
    default:
      return [];
  }
}

/** Whether a dialog with this title is the written one. */
export function isShownAs({ title }: WrittenDialog, shown: string): boolean {
  const parts = title.split("…").map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/gu, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`, "u").test(shown);
}
